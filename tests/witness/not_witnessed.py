# SPDX-License-Identifier: Apache-2.0
"""Columns that no witness, no answer of XProf's and no other reader is compared with, and what
looks at them instead: {what: {table: columns}}, '*' for all of a table. covered.py fails if another
column has no second source, and if one of these has got one: then it is to be taken off, so this
list only becomes shorter."""

NOT_WITNESSED = {
    'only hand-made cases have it (tests/cases, tests/sql)': {
        'advice': 'finding missing query',
        'capture_summary': 'text topic',
        'dcn_collectives': 'host_stall_ms',
        'dcn_messages': 'chunk loop_index straggler',
        'devices': 'time_scale_multiplier',
        'flops_utilization_by_step': 'model_flops',
        'fragmentation': 'hosts memory_space',
        'fusion_breakdown': 'occurrences',
        'gpu_samples': 'memory_utilization_percent',
        'hlo_ops':
            'deduplicated_name event_self_ps event_time_ps hbm_read_bytes hbm_write_bytes '
            'hlo_module min_ps normalized_ps padding_efficiency',
        'hosts': 'damage',
        'inference_batches': 'request_ids',
        'inference_latency': 'shown_by_xprof',
        'input_bound': 'advice statement top_operation',
        'input_pipeline': 'compute_percent',
        'input_steps': 'name step',
        'kernel_time_by_op': 'tensorcore_utilization_fraction',
        'kpi': 'duty_cycle_percent',
        'live_allocations': 'data_type',
        'memory_allocators': 'lifetime_peak_bytes_actual',
        'memory_by_source_line':
            'hlo_module hosts largest_op padding_mib shape tf_op user_file user_line',
        'memory_events': 'group_id live_at_peak sampled time_ps',
        'mfu': 'missing name',
        'missing': 'how option',
        'op_metrics':
            'cmem_read_bytes event_self_ps event_time_ps hbm_read_bytes hbm_write_bytes '
            'parent_id vmem_read_bytes',
        'op_metrics_totals': 'compute_16bit_ps_actual compute_32bit_ps_actual',
        'op_profile': 'flops_utilization kind',
        'op_time_by_category': 'op_count',
        'overview': 'section',
        'padding_waste': 'padding_time_us self_time_us',
        'peak_holders': 'data_type hlo_op region_type',
        'peak_memory': 'hosts padding_mib peak_op',
        'prof_issues': 'byte_offset code count lost_bytes path',
        'recommendations': 'section severity',
        'roofline': 'model_flops_actual',
        'slowest_steps': 'more',
        'step_breakdown': 'duration_ps_actual',
        'step_time_graph': 'graph',
        'steps': 'name range_ms range_start_ps',
        'stragglers': 'plane',
        'tf_data_calls':
            'bottleneck bottleneck_id bottleneck_long_name call group_id pipeline suggestion',
        'tf_data_iterators': 'call is_async_actual iterator_id pipeline suggestion',
        'tf_data_pipelines':
            'bottleneck bottleneck_id bottleneck_long_name iterator_id kind pipeline suggestion',
        'tf_ops': 'tensorcore_utilization_fraction_actual',
        'trace_events': 'hlo_module is_eager module_event_id step_event_id step_name tf_op',
    },
    'only its type, range and NULL rule are looked at (tests/columns)': {
        'dcn_collectives': 'group_size recv_stall_ms_actual shown_by_xprof',
        'hlo_ops': 'bytes_accessed_actual is_container',
        'inference_requests': 'batch_formation_ps batch_ids',
        'input_breakdown': 'advice',
        'input_pipeline':
            'all_others_statement collectives_statement idle_percent idle_statement '
            'idle_verdict input_statement kernel_launch_statement next_step output_statement',
        'input_steps': 'all_reduce_ms',
        'memory_allocators': 'earlier_bytes_at_peak peak_step unknown_bytes_at_peak',
        'op_metrics': 'bytes_accessed_actual cmem_write_bytes flops_actual op_id vmem_write_bytes',
        'op_metrics_totals': 'idle_fraction',
        'op_profile': 'self_time_ps',
        'overview': 'description unit',
        'roofline': 'flops_actual',
        'roofline_properties': 'exact unit',
        'steps': 'all_reduce_ms sc_compute_ms sc_idle_ms sc_step_ms',
        'tf_ops': 'event_self_ps event_time_ps',
        'trace_events': 'device_self_ps',
    },
    'only kept answers have it, which were looked through (tests/kept_queries)': {
        'advice': 'action',
        'missing': 'cannot_answer tables',
        'peak_holders': 'peak_of program_id recorded_by',
    },
    'the rows of tf_ops as XProf writes them into a file (tests/parity/export)': {
        'tf_stats': '*',
    },
}

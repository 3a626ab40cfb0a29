# bash completion of profsql. Written by command/generate.
_profsql()
{
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} own="" word
    COMPREPLY=()
    case $before in
        -f|--format) COMPREPLY=($(compgen -W "table csv json jsonl markdown perfetto chrome" -- "$current")); return ;;
        -o|--output) COMPREPLY=($(compgen -f -- "$current")); return ;;
        tables) COMPREPLY=($(compgen -W "advice all_others allocation_churn async_op_totals async_ops batch_padding buffer_allocations capture_summary collectives compare_groups compare_hlo_ops compare_kernels compare_ops compare_slower_ops compare_steps compare_tf_ops compilations compile_passes compile_time compiler_events core_steps dcn_bursts dcn_collectives dcn_messages device_steps device_time devices donation eager_ops event_metadata event_metadata_stats event_stats event_totals events exposed_communication exposed_communication_by_step flops_utilization_by_step fragmentation fusion_breakdown gaps gpu_counters gpu_samples graph_kernels heap_timeline hlo_computations hlo_instructions hlo_modules hlo_operands hlo_ops hlo_text host_bound host_only_ops host_steps host_waits hosts idle_causes idle_gaps inference_batches inference_latency inference_models inference_percentiles inference_requests inference_tensor_patterns input_bound input_breakdown input_ops input_pipeline input_steps kernel_ops kernel_stats kernel_time_by_op kernel_utilization kpi largest_buffers launch_delays launch_latency launch_queue layout_ops lines live_allocations live_at memory_active memory_allocators memory_by_source_line memory_events memory_growth memory_ops memory_over_time memory_peaks memory_time mfu missing op_metrics op_metrics_totals op_percentiles op_profile op_time_by_category op_time_by_line overview overview_page padding_waste peak_holders peak_memory perf_counters plane_stats planes prof_capture prof_columns prof_differences prof_find prof_functions prof_help prof_issues prof_monitor prof_queries prof_runs prof_tables profsql_live program_cost program_flops program_gaps program_runs program_totals range_kernels recommendations recompilations remat_candidates roofline roofline_properties scope_ops session slow_calls slow_step_ops slowest_steps stat_metadata steady_steps step_breakdown step_op_spread step_ops step_time_graph step_times step_variance steps stragglers tensorcore_missed tf_data_calls tf_data_iterators tf_data_pipelines tf_functions tf_ops tf_stats time_breakdown time_by_pass time_by_scope time_by_source_line time_by_type timeline top_device_ops top_hlo_ops top_kernels top_ops top_wasted trace_events utilization wait_totals xprof_events" -- "$current")); return ;;
    esac
    for word in "${COMP_WORDS[@]:1}"; do
        case $word in
        advice) own="--least-percent" ;;
        allocation_churn) own="--n" ;;
        async_op_totals) own="--include-synchronous" ;;
        async_ops) own="--include-synchronous" ;;
        buffer_allocations) own="--small-buffer-bytes" ;;
        compare_groups) own="--runs-a --runs-b" ;;
        compare_ops) own="--kind" ;;
        compare_slower_ops) own="--kind" ;;
        device_time) own="--by-step --by-line" ;;
        donation) own="--n" ;;
        exposed_communication) own="--by-device" ;;
        fragmentation) own="--n" ;;
        fusion_breakdown) own="--n" ;;
        gaps) own="--n" ;;
        hlo_text) own="--module --style" ;;
        host_only_ops) own="--n" ;;
        idle_gaps) own="--n" ;;
        kernel_stats) own="--row-limit" ;;
        kernel_time_by_op) own="--n" ;;
        largest_buffers) own="--n --space" ;;
        launch_latency) own="--n" ;;
        layout_ops) own="--n" ;;
        live_allocations) own="--event --n" ;;
        live_at) own="--event --module --n --space" ;;
        memory_by_source_line) own="--n --space" ;;
        memory_events) own="--samples" ;;
        memory_over_time) own="--parts" ;;
        memory_time) own="--levels" ;;
        mfu) own="--peak" ;;
        op_profile) own="--group-by --include-idle --row-limit" ;;
        op_time_by_line) own="--n" ;;
        padding_waste) own="--n" ;;
        peak_holders) own="--n --space" ;;
        peak_memory) own="--n --space" ;;
        prof_capture) own="--address --duration-ms --logdir" ;;
        prof_help) own="--word" ;;
        prof_monitor) own="--address --duration-ms --level" ;;
        program_cost) own="--n" ;;
        range_kernels) own="--range" ;;
        remat_candidates) own="--n --max-flops-per-byte --space" ;;
        slow_calls) own="--op --n" ;;
        slow_step_ops) own="--of-step --n" ;;
        slowest_steps) own="--n" ;;
        step_op_spread) own="--of-step" ;;
        step_time_graph) own="--width" ;;
        step_variance) own="--n" ;;
        stragglers) own="--n" ;;
        tensorcore_missed) own="--n" ;;
        tf_ops) own="--include-idle --row-limit" ;;
        time_breakdown) own="--by-step --by-line" ;;
        time_by_scope) own="--depth --by-iteration --n" ;;
        time_by_source_line) own="--n" ;;
        top_hlo_ops) own="--n" ;;
        top_kernels) own="--n" ;;
        top_ops) own="--n" ;;
        top_wasted) own="--n" ;;
        esac
    done
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "--format --output --where --order-by --columns --limit --tables --from --to --lines --against --force --quiet --help --version $own" -- "$current"))
    elif [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "diff list tables report shell export capture" -- "$current") $(compgen -f -- "$current"))
    elif [[ ${COMP_WORDS[1]} == @(diff|list|shell|export|report) ]]; then
        COMPREPLY=($(compgen -f -- "$current"))
    else
        COMPREPLY=($(compgen -W "advice all_others allocation_churn async_op_totals async_ops batch_padding buffer_allocations capture_summary collectives compare_groups compare_hlo_ops compare_kernels compare_ops compare_slower_ops compare_steps compare_tf_ops compilations compile_passes compile_time compiler_events core_steps dcn_bursts dcn_collectives dcn_messages device_steps device_time devices donation eager_ops event_metadata event_metadata_stats event_stats event_totals events exposed_communication exposed_communication_by_step flops_utilization_by_step fragmentation fusion_breakdown gaps gpu_counters gpu_samples graph_kernels heap_timeline hlo_computations hlo_instructions hlo_modules hlo_operands hlo_ops hlo_text host_bound host_only_ops host_steps host_waits hosts idle_causes idle_gaps inference_batches inference_latency inference_models inference_percentiles inference_requests inference_tensor_patterns input_bound input_breakdown input_ops input_pipeline input_steps kernel_ops kernel_stats kernel_time_by_op kernel_utilization kpi largest_buffers launch_delays launch_latency launch_queue layout_ops lines live_allocations live_at memory_active memory_allocators memory_by_source_line memory_events memory_growth memory_ops memory_over_time memory_peaks memory_time mfu missing op_metrics op_metrics_totals op_percentiles op_profile op_time_by_category op_time_by_line overview overview_page padding_waste peak_holders peak_memory perf_counters plane_stats planes prof_capture prof_columns prof_differences prof_find prof_functions prof_help prof_issues prof_monitor prof_queries prof_runs prof_tables profsql_live program_cost program_flops program_gaps program_runs program_totals range_kernels recommendations recompilations remat_candidates roofline roofline_properties scope_ops session slow_calls slow_step_ops slowest_steps stat_metadata steady_steps step_breakdown step_op_spread step_ops step_time_graph step_times step_variance steps stragglers tensorcore_missed tf_data_calls tf_data_iterators tf_data_pipelines tf_functions tf_ops tf_stats time_breakdown time_by_pass time_by_scope time_by_source_line time_by_type timeline top_device_ops top_hlo_ops top_kernels top_ops top_wasted trace_events utilization wait_totals xprof_events" -- "$current") $(compgen -f -- "$current"))
    fi
}
complete -o filenames -F _profsql profsql

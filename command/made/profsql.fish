# fish completion of profsql. Written by command/generate.
complete -c profsql -n __fish_use_subcommand -a diff -d 'what changed from one run to another'
complete -c profsql -n __fish_use_subcommand -a list -d 'the runs in a folder and below it'
complete -c profsql -n __fish_use_subcommand -a tables -d 'tables and queries that have to do with a word'
complete -c profsql -n __fish_use_subcommand -a report -d 'a page about a run, in one file of HTML'
complete -c profsql -n __fish_use_subcommand -a shell -d 'sqlite3 with the runs in it'
complete -c profsql -n __fish_use_subcommand -a export -d 'a database of plain tables, or a trace'
complete -c profsql -n __fish_use_subcommand -a capture -d 'record a CUDA program'
complete -c profsql -n '__fish_seen_subcommand_from tables' -f
complete -c profsql -l format -s f -r -x -a 'table csv json jsonl markdown perfetto chrome' -d 'table, csv, json, jsonl, markdown, perfetto or chrome'
complete -c profsql -l output -s o -r -d 'write to a file'
complete -c profsql -l where -r -d 'only rows that match this SQL'
complete -c profsql -l order-by -r -d 'another order'
complete -c profsql -l columns -r -d 'only these columns'
complete -c profsql -l limit -r -d 'at most this many rows'
complete -c profsql -l tables -r -d 'what to export'
complete -c profsql -l from -r -d 'start of what to export'
complete -c profsql -l to -r -d 'end of what to export'
complete -c profsql -l lines -r -d 'lines to export'
complete -c profsql -l against -r -d 'baseline of a report'
complete -c profsql -l force -d 'let export replace a file'
complete -c profsql -l quiet -s q -d 'only errors on standard error'
complete -c profsql -l help -s h -d 'help'
complete -c profsql -l version -s V -d 'version'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a advice -d 'Which problems cost the most time, and what can be done about them?'
complete -c profsql -n '__fish_seen_subcommand_from advice' -l least-percent -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a all_others -d 'one activity of the host in the time of the steps that XProf calls All others, because no known activity runs: what is in All others? The longest first'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a allocation_churn -d 'Which operations allocate the most memory over and over?'
complete -c profsql -n '__fish_seen_subcommand_from allocation_churn' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a async_op_totals -d 'one asynchronous transfer or collective of a device with the compute op that overlaps it longest: the number and times of all such executions'
complete -c profsql -n '__fish_seen_subcommand_from async_op_totals' -l include-synchronous -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a async_ops -d 'one asynchronous transfer or collective of a device, with the time that computing hides'
complete -c profsql -n '__fish_seen_subcommand_from async_ops' -l include-synchronous -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a batch_padding -d 'How much of a model server\'s batches is padding?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a buffer_allocations -d 'one logical buffer of an HLO program, with its position in an allocation'
complete -c profsql -n '__fish_seen_subcommand_from buffer_allocations' -l small-buffer-bytes -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a capture_summary -d 'What does a profile contain, on one screen: time, steps, devices, kernels, copies, losses?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a collectives -d 'one collective op of one device: how long it took, and how long the device waited for other devices'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a compare_groups -d 'Is the difference between two groups of runs more than noise?'
complete -c profsql -n '__fish_seen_subcommand_from compare_groups' -l runs-a -x
complete -c profsql -n '__fish_seen_subcommand_from compare_groups' -l runs-b -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a compare_hlo_ops -d 'How do the HLO ops of two runs differ?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a compare_kernels -d 'How do the GPU kernels of two runs differ?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a compare_ops -d 'How do the operations of two runs differ, on devices, or on host threads if no run has a device?'
complete -c profsql -n '__fish_seen_subcommand_from compare_ops' -l kind -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a compare_slower_ops -d 'Which operations take more time in the second run than in the first?'
complete -c profsql -n '__fish_seen_subcommand_from compare_slower_ops' -l kind -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a compare_steps -d 'What does a step of one run spend more time on than a step of another run?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a compare_tf_ops -d 'How do the framework ops of two runs differ?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a compilations -d 'one compilation during the capture: the function, the program that it became, and how its parameters differ from those of the previous program; ordered by host and start'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a compile_passes -d 'Why is compilation slow: which pass of the compiler takes the time?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a compile_time -d 'How much time did the job spend compiling?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a compiler_events -d 'one name of events on one thread of a compiler, during the compilations of one function: how often and how long these ran (docs/semantics.md)'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a core_steps -d 'one core in one step, as in XProf\'s pod viewer'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a dcn_bursts -d 'one burst: a period without a pause in which messages from other slices were in flight, with the share of the network that they used'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a dcn_collectives -d 'one collective between TPU slices over the data-center network, as in XProf\'s megascale stats'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a dcn_messages -d 'one message that a host received from another TPU slice over the data-center network'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a device_steps -d 'one GPU or TensorCore in one step: its time communicating and transferring, and the parts that computing does not hide'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a device_time -d 'one device (or one of its streams, or one step on it) with its time busy, computing, communicating, transferring, waiting and idle, and the parts that computing does not hide'
complete -c profsql -n '__fish_seen_subcommand_from device_time' -l by-step -x
complete -c profsql -n '__fish_seen_subcommand_from device_time' -l by-line -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a devices -d 'one GPU, TensorCore or SparseCore: its model, and the peak rates of its compute units and memories'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a donation -d 'Which parameters of programs are donated, so that outputs reuse their memory, and which could be?'
complete -c profsql -n '__fish_seen_subcommand_from donation' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a eager_ops -d 'Which TensorFlow ops ran eagerly, outside any tf.function?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a event_metadata -d 'one event metadata entry that a plane declares: the name and stats that its events share'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a event_metadata_stats -d 'one stat that all events of one metadata entry share'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a event_stats -d 'one stat of one event: the event\'s own stats first, then those of its metadata'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a event_totals -d 'one event metadata entry on one line (one name; on TPUs, one op of one program): number of events; total, self, shortest and longest time'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a events -d 'one event: the same table as `trace_events`, under a shorter name'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a exposed_communication -d 'How much of the communication and copying is not hidden by computation?'
complete -c profsql -n '__fish_seen_subcommand_from exposed_communication' -l by-device -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a exposed_communication_by_step -d 'How much communication and copying was exposed in each step of each device?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a flops_utilization_by_step -d 'How much of the devices\' peak FLOP rate did each step use (MFU, HFU)?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a fragmentation -d 'How much memory do programs allocate for temporaries but never use?'
complete -c profsql -n '__fish_seen_subcommand_from fragmentation' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a fusion_breakdown -d 'Which instructions are in the fusions, slowest fusion first?'
complete -c profsql -n '__fish_seen_subcommand_from fusion_breakdown' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a gaps -d 'one gap between two ops of a device; in a run without work on devices, between two ops of a process'
complete -c profsql -n '__fish_seen_subcommand_from gaps' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a gpu_counters -d 'How busy were the parts of the GPUs over time, according to their hardware counters?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a gpu_samples -d 'What were the power, clock rates, load and temperature of the GPUs over time?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a graph_kernels -d 'one kernel or copy that a CUDA graph ran, with the HLO instruction that it runs'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a heap_timeline -d 'one event of an HLO program\'s heap trace, with the memory in use before it'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a hlo_computations -d 'one computation of an HLO program'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a hlo_instructions -d 'one instruction of an HLO program'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a hlo_modules -d 'one HLO program of a host'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a hlo_operands -d 'one operand of an HLO instruction'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a hlo_ops -d 'one HLO op, summed over all devices, as in XProf\'s HLO op stats, which lack the kernels of CUDA graphs (top_hlo_ops has them)'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a hlo_text -d 'one line of an HLO program\'s text, as XProf\'s graph viewer shows it'
complete -c profsql -n '__fish_seen_subcommand_from hlo_text' -l module -x
complete -c profsql -n '__fish_seen_subcommand_from hlo_text' -l style -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a host_bound -d 'Does the host slow the devices down, and what does it do?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a host_only_ops -d 'Which framework ops ran on the host only, without any work on a device?'
complete -c profsql -n '__fish_seen_subcommand_from host_only_ops' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a host_steps -d 'one step, or group of events, on one host, including steps that XProf does not count and the reason for it'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a host_waits -d 'How long, and in which calls, does the host wait for a device?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a hosts -d 'one host file of a run'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a idle_causes -d 'one activity of the host during which devices were idle, with the idle time; longest first'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a idle_gaps -d 'When was a device idle, and what ran before and after?'
complete -c profsql -n '__fish_seen_subcommand_from idle_gaps' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a inference_batches -d 'one batch that a model server ran; ordered by model, shortest batch first'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a inference_latency -d 'one percentile of the duration of requests to a model server, with its time by activity'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a inference_models -d 'one model on a model server, with its requests, batches and batching parameters'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a inference_percentiles -d 'one request or batch at a percentile of the duration, or an average, as in XProf\'s inference profile'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a inference_requests -d 'one request to a model server, with its time by activity; ordered by model, shortest request first'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a inference_tensor_patterns -d 'one pattern of tensors that requests and batches converted between host and device layout, with the time that took'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a input_bound -d 'Is the run waiting for its input, and for which part of the input pipeline?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a input_breakdown -d 'one of the five parts of the host\'s input time'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a input_ops -d 'one op of the host\'s input pipelines; longest self time first'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a input_pipeline -d 'one run: whether it waits for its input, by XProf\'s rules'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a input_steps -d 'one step, as in XProf\'s input-pipeline analyzer'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a kernel_ops -d 'one GPU kernel by name, framework op and use of tensor cores, from profiler files of any age; longest kernel first'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a kernel_stats -d 'one GPU kernel by name, launch configuration and op, as in XProf\'s kernel stats; longest kernel first'
complete -c profsql -n '__fish_seen_subcommand_from kernel_stats' -l row-limit -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a kernel_time_by_op -d 'Which framework ops do GPU kernels and copies run for, in profiler files of any age?'
complete -c profsql -n '__fish_seen_subcommand_from kernel_time_by_op' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a kernel_utilization -d 'one metric that XProf computes from one sample of a TPU\'s hardware counters'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a kpi -d 'How well did the run perform, in one row?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a largest_buffers -d 'Which buffers use the most memory at the peak?'
complete -c profsql -n '__fish_seen_subcommand_from largest_buffers' -l n -s n -x
complete -c profsql -n '__fish_seen_subcommand_from largest_buffers' -l space -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a launch_delays -d 'one kernel, copy or other event on a GPU whose launch is known: when it was launched, how long it waited, and what the host was doing'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a launch_latency -d 'one name of kernels, copies or other events on GPUs: how long does a kernel wait between its launch on the host and its start on the device?'
complete -c profsql -n '__fish_seen_subcommand_from launch_latency' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a launch_queue -d 'one stream of a GPU: how long are the launch queues of GPU streams, and is the host blocked because one is full?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a layout_ops -d 'How much time do copies and transposes take, and which op needs them?'
complete -c profsql -n '__fish_seen_subcommand_from layout_ops' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a lines -d 'one timeline in a plane: a host thread, a GPU stream, or a row of a TPU core'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a live_allocations -d 'Which memory was allocated and not yet freed at an event, or at each allocator\'s peak?'
complete -c profsql -n '__fish_seen_subcommand_from live_allocations' -l event -x
complete -c profsql -n '__fish_seen_subcommand_from live_allocations' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a live_at -d 'Which buffers of a compiled program are live at one moment of its memory plan?'
complete -c profsql -n '__fish_seen_subcommand_from live_at' -l event -x
complete -c profsql -n '__fish_seen_subcommand_from live_at' -l module -x
complete -c profsql -n '__fish_seen_subcommand_from live_at' -l n -s n -x
complete -c profsql -n '__fish_seen_subcommand_from live_at' -l space -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a memory_active -d 'one group of equal allocations that were live at their allocator\'s peak, or heap or stack that no allocation explains'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a memory_allocators -d 'one allocator, with its peaks and the composition of its memory at the profile\'s peak'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a memory_by_source_line -d 'Which lines of my program use the most memory of a compiled program at its peak?'
complete -c profsql -n '__fish_seen_subcommand_from memory_by_source_line' -l n -s n -x
complete -c profsql -n '__fish_seen_subcommand_from memory_by_source_line' -l space -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a memory_events -d 'one allocation or free that an allocator recorded'
complete -c profsql -n '__fish_seen_subcommand_from memory_events' -l samples -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a memory_growth -d 'Does the memory in use grow from step to step (a leak)?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a memory_ops -d 'one op that allocated memory from one allocator: how often, how much, and how much of that was freed; in the order of the allocators\' names and of the first allocation in memory_events'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a memory_over_time -d 'one part of an allocator\'s time, with the most and the least memory in use in it; in the order of the allocators\' names and of time'
complete -c profsql -n '__fish_seen_subcommand_from memory_over_time' -l parts -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a memory_peaks -d 'one memory space of an HLO program that has an allocation in it, with its peak and totals, as in XProf\'s memory viewer'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a memory_time -d 'one level of an allocator\'s memory in use, with the time that the allocator spent at it; lowest level first'
complete -c profsql -n '__fish_seen_subcommand_from memory_time' -l levels -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a mfu -d 'What is the MFU of the run, of each step and of each program (model FLOPS utilization)?'
complete -c profsql -n '__fish_seen_subcommand_from mfu' -l peak -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a missing -d 'What can this file not answer, and which profiler option would have recorded it?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a op_metrics -d 'one op on host threads or on devices, with its occurrences, times, FLOPs and bytes'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a op_metrics_totals -d 'one side of a run (host, device or framework), with its measured time, time in ops and duty cycle'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a op_percentiles -d 'one op, program or step on the planes of a kind, with the percentiles of its durations (docs/semantics.md, Spread)'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a op_profile -d 'one node of XProf\'s op profile, a tree of the devices\' ops; in preorder'
complete -c profsql -n '__fish_seen_subcommand_from op_profile' -l group-by -x
complete -c profsql -n '__fish_seen_subcommand_from op_profile' -l include-idle -x
complete -c profsql -n '__fish_seen_subcommand_from op_profile' -l row-limit -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a op_time_by_category -d 'Which kinds of ops take the time, on the devices and on the host?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a op_time_by_line -d 'How much time does each timeline spend in each operation?'
complete -c profsql -n '__fish_seen_subcommand_from op_time_by_line' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a overview -d 'one property of XProf\'s overview page'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a overview_page -d 'What does XProf\'s overview page show for the run?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a padding_waste -d 'Which buffers waste the most memory and time on padding, and which shape would fit?'
complete -c profsql -n '__fish_seen_subcommand_from padding_waste' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a peak_holders -d 'Which allocations or buffers make up the memory peak, and since when do they exist?'
complete -c profsql -n '__fish_seen_subcommand_from peak_holders' -l n -s n -x
complete -c profsql -n '__fish_seen_subcommand_from peak_holders' -l space -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a peak_memory -d 'How much memory does each compiled program need at its peak, and for what?'
complete -c profsql -n '__fish_seen_subcommand_from peak_memory' -l n -s n -x
complete -c profsql -n '__fish_seen_subcommand_from peak_memory' -l space -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a perf_counters -d 'one hardware counter in one sample, in file order'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a plane_stats -d 'one stat of a plane, such as a device capability or a property of the session'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a planes -d 'one plane of a file: a device, a host\'s threads, or metadata'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a prof_capture -d 'one host whose running program was profiled by this query (docs/remote.md)'
complete -c profsql -n '__fish_seen_subcommand_from prof_capture' -l address -x
complete -c profsql -n '__fish_seen_subcommand_from prof_capture' -l duration-ms -x
complete -c profsql -n '__fish_seen_subcommand_from prof_capture' -l logdir -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a prof_columns -d 'one column of a table or canned query'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a prof_differences -d 'one column whose value equals XProf\'s and is known to be wrong, with the column that is right'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a prof_find -d 'one run found in a folder or below it'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a prof_functions -d 'one SQL function'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a prof_help -d 'one table, query, function or column that matches a word, best match first; without a word, all except columns'
complete -c profsql -n '__fish_seen_subcommand_from prof_help' -l word -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a prof_issues -d 'one problem of a file (data was lost, was repaired or is doubtful), one reason why a table has no rows, or one warning of an XProf page'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a prof_monitor -d 'one measurement of a running program, made by this query (docs/remote.md)'
complete -c profsql -n '__fish_seen_subcommand_from prof_monitor' -l address -x
complete -c profsql -n '__fish_seen_subcommand_from prof_monitor' -l duration-ms -x
complete -c profsql -n '__fish_seen_subcommand_from prof_monitor' -l level -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a prof_queries -d 'one canned query'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a prof_runs -d 'one attached run, or the run that a path names'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a prof_tables -d 'one table of the extension'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a profsql_live -d 'one record of a capture that is still running'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a program_cost -d 'How many FLOPs does each program need, how large is it, and how long did it take to compile?'
complete -c profsql -n '__fish_seen_subcommand_from program_cost' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a program_flops -d 'How many FLOPs did each HLO program carry out on devices, and how is that known?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a program_gaps -d 'one part of a device\'s span in which it ran no HLO program, between two programs or at an end'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a program_runs -d 'one execution of an HLO program on a device'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a program_totals -d 'one HLO program (id and module) on one device: how often it ran, and for how long'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a range_kernels -d 'Which kernels were launched under a range, such as a TraceAnnotation or a Python function?'
complete -c profsql -n '__fish_seen_subcommand_from range_kernels' -l range -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a recommendations -d 'one recommendation of XProf\'s pages, or of a rule like theirs: a finding and what to do about it, or a tip; the query advice shows what each problem costs'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a recompilations -d 'one function that was compiled several times, or has several programs in the file: how long that took, and the parameters whose shapes differ; for each host, longest compilation time first'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a remat_candidates -d 'Which large values stay in memory across the peak although they are cheap to recompute?'
complete -c profsql -n '__fish_seen_subcommand_from remat_candidates' -l n -s n -x
complete -c profsql -n '__fish_seen_subcommand_from remat_candidates' -l max-flops-per-byte -x
complete -c profsql -n '__fish_seen_subcommand_from remat_candidates' -l space -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a roofline -d 'one op, or the entire program, compared with the peak rates of the device, as in XProf\'s roofline model'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a roofline_properties -d 'one property of the devices that XProf\'s roofline model uses'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a scope_ops -d 'one op (in a loop, one iteration of it) on the devices of a kind, or on a host\'s threads in a run without devices, with its time, scope, owner and user line'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a session -d 'one fact about the capture: its environment, or an error or warning of the profiler'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a slow_calls -d 'one call of an op, kernel or copy on a device that took longer than the median of its calls, the slowest first: which single calls of an op took much longer than its other calls?'
complete -c profsql -n '__fish_seen_subcommand_from slow_calls' -l op -x
complete -c profsql -n '__fish_seen_subcommand_from slow_calls' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a slow_step_ops -d 'What took longer in a slow step than in the median step?'
complete -c profsql -n '__fish_seen_subcommand_from slow_step_ops' -l of-step -x
complete -c profsql -n '__fish_seen_subcommand_from slow_step_ops' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a slowest_steps -d 'Which steps took longest, and what did they spend more time on than the median complete step?'
complete -c profsql -n '__fish_seen_subcommand_from slowest_steps' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a stat_metadata -d 'one stat name that a plane declares'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a steady_steps -d 'How long is a step in steady state, without warm-up and compilation?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a step_breakdown -d 'one category of time of one core in one step, as in XProf\'s step database'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a step_op_spread -d 'one op or host event over all steps of a run: how its self time varies, how much of the variation of the step time it explains, and what it took in the longest step or another'
complete -c profsql -n '__fish_seen_subcommand_from step_op_spread' -l of-step -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a step_ops -d 'one op or host event in one step: how often and how long it ran (docs/semantics.md)'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a step_time_graph -d 'How long did each step take, and on what? One text bar per step'
complete -c profsql -n '__fish_seen_subcommand_from step_time_graph' -l width -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a step_times -d 'What did each step spend its time on, one row for each step and category?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a step_variance -d 'Which ops make the step times vary?'
complete -c profsql -n '__fish_seen_subcommand_from step_variance' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a steps -d 'one step of a run, with its duration and its time by activity'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a stragglers -d 'Which cores or hosts slow the others down?'
complete -c profsql -n '__fish_seen_subcommand_from stragglers' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a tensorcore_missed -d 'Which kernels could run on tensor cores but do not?'
complete -c profsql -n '__fish_seen_subcommand_from tensorcore_missed' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a tf_data_calls -d 'one request for an element of a tf.data pipeline; longest request first'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a tf_data_iterators -d 'one iterator in one request for an element of a tf.data pipeline, with its share of the time'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a tf_data_pipelines -d 'one tf.data input pipeline, with the bottleneck of its longest call'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a tf_functions -d 'one tf.function in one execution mode, with its calls and the cost of tracing'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a tf_ops -d 'one framework op of devices or hosts, as in XProf\'s framework op stats'
complete -c profsql -n '__fish_seen_subcommand_from tf_ops' -l include-idle -x
complete -c profsql -n '__fish_seen_subcommand_from tf_ops' -l row-limit -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a tf_stats -d 'What does XProf\'s framework op stats page, and its CSV export, show?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a time_breakdown -d 'one combination of activities of a device (computing, communicating, transferring, or none of them), with the part of its span in which exactly these run'
complete -c profsql -n '__fish_seen_subcommand_from time_breakdown' -l by-step -x
complete -c profsql -n '__fish_seen_subcommand_from time_breakdown' -l by-line -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a time_by_pass -d 'Does the forward pass, the backward pass or the optimizer take the time?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a time_by_scope -d 'Which layer, module or named scope takes the time, in the forward and in the backward pass?'
complete -c profsql -n '__fish_seen_subcommand_from time_by_scope' -l depth -x
complete -c profsql -n '__fish_seen_subcommand_from time_by_scope' -l by-iteration -x
complete -c profsql -n '__fish_seen_subcommand_from time_by_scope' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a time_by_source_line -d 'Which lines of my program take the time?'
complete -c profsql -n '__fish_seen_subcommand_from time_by_source_line' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a time_by_type -d 'In which element types do the ops compute, and how long do conversions between them take?'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a timeline -d 'one event that XProf\'s trace viewer displays; `derived = 1` marks events on lines that XProf adds'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a top_device_ops -d 'one of the ten framework ops with the most device time, as in XProf\'s overview page'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a top_hlo_ops -d 'Which HLO ops take the most time on the devices, or on the host in a run without devices?'
complete -c profsql -n '__fish_seen_subcommand_from top_hlo_ops' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a top_kernels -d 'Which GPU kernels take the most time?'
complete -c profsql -n '__fish_seen_subcommand_from top_kernels' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a top_ops -d 'Which operations take the most self time?'
complete -c profsql -n '__fish_seen_subcommand_from top_ops' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a top_wasted -d 'Which computing HLO ops waste the most device time, using neither compute nor memory well?'
complete -c profsql -n '__fish_seen_subcommand_from top_wasted' -l n -s n -x
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a trace_events -d 'one event, in file order, with its times, self time, depth, parent and typed stats'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a utilization -d 'one hardware unit of one TPU core in one sample, with its utilization from hardware counters (v6e, v7x)'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a wait_totals -d 'one name of waits for a device on one host thread: how many there are, and how long they take. host_waits also says what calls them'
complete -c profsql -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from diff list shell export report' -a xprof_events -d 'one event as in XProf\'s Events DB (`xprof query_events_db`), with XProf\'s column names'

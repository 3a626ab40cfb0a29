-- SPDX-License-Identifier: Apache-2.0
-- What can this file not answer, and which profiler option would have recorded it?
-- example: SELECT missing, cannot_answer, option FROM missing
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- nothing: nothing that this query looks for is missing
-- column run TEXT: name of the run
-- column missing TEXT: what the file does not contain, looked for in all hosts of the run
--   (docs/semantics.md, Missing). What was lost, cut off or dropped is not listed here but in
--   prof_issues
-- column cannot_answer TEXT: questions without an answer because of that
-- column tables TEXT: tables, queries and columns that are empty, NULL or incomplete because of
--   that, separated by commas
-- column option TEXT: option of the profiler, or what else records it; NULL if no option is known.
--   Options are those of jax.profiler.ProfileOptions and tf.profiler.experimental.ProfilerOptions
--   unless the text names another program; options that start with -- are those of profsql-capture,
--   if it recorded the run
-- column how TEXT: how to set the option, or what to do instead
WITH lack(place, name, missing, cannot_answer, tables, option, how) AS (
    VALUES
    (1, 'events', 'events: the source is a compiled program', 'All questions about time.',
     'all tables but those of programs', 'a profile instead of a dump',
     'jax.profiler.start_trace(log_dir), tf.profiler.experimental.start(log_dir), or '
     || 'xp.start_trace(log_dir) of torch_xla; give the log dir'),
    (2, 'host', 'events of host threads',
     'What did the host do? Why are devices idle? How long did '
     || 'input, compiling and launching take?',
     'host_steps, steps, idle_causes, compilations, input_pipeline, launch_delays, tf_functions',
     'host_tracer_level = 2', 'JAX: options = jax.profiler.ProfileOptions(); '
     || 'options.host_tracer_level = 2; TensorFlow: ProfilerOptions(host_tracer_level=2)'),
    (3, 'device', 'work of devices', 'What did the GPU or TPU do, and when was it idle? If the run '
     || 'used only the CPU, nothing is missing.',
     'device_time, hlo_ops, kernel_stats, collectives, program_runs, mfu',
     'device_tracer_level = 1',
     'Leave device_tracer_level at 1. If it was, the table session and the log of the program have '
     || 'the profiler''s error (on NVIDIA often missing permission for CUPTI).'),
    (4, 'step', 'marks of steps', 'How long did a step take, and on what? Which steps are slow? '
     || 'Which part of a step waits for input?',
     'steps, core_steps, step_ops, slow_step_ops, host_bound, stragglers, input_bound',
     'StepTraceAnnotation', 'JAX: with jax.profiler.StepTraceAnnotation(''train'', step_num=i): '
     || 'around each step; TensorFlow: '
     || 'tf.profiler.experimental.Trace(''train'', step_num=i, _r=1); PyTorch/XLA: '
     || 'torch_xla.debug.profiler.StepTrace(''train'', step_num=i)'),
    (5, 'python', 'Python frames', 'Which Python code ran while the device was idle, or launched a '
     || 'kernel? Which Python code loads the data?',
     'launch_delays.python_frame, launch_delays.python_stack, idle_causes.python_frame',
     'python_tracer_level = 1', 'JAX: options.python_tracer_level = 1 (its default); TensorFlow: '
     || 'ProfilerOptions(python_tracer_level=1). It slows Python down.'),
    (6, 'launch', 'launches of GPU work (correlation ids on host threads)',
     'How long do kernels wait between launch and start? Who launched a kernel?',
     'launch_delays, launch_latency, range_kernels',
     'device_tracer_level = 1 with the driver''s API',
     'Profilers also record calls of the driver, unless their number of events is limited '
     || '(JAX: options.advanced_configuration = {''gpu_max_callback_api_events'': ...}).'),
    (7, 'program', 'HLO programs', 'How much memory do programs need, and for what? Which layer, '
     || 'source line and FLOPs does an op have? Why was a function compiled again?',
     'hlo_modules, hlo_instructions, buffer_allocations, memory_peaks, mfu, recompilations',
     'enable_hlo_proto = True', 'JAX: options.enable_hlo_proto = True (its default). Programs are '
     || 'in the profile only if XLA compiled them in this process. Otherwise dump them: '
     || 'XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto".'),
    (8, 'plan', 'memory plans of programs (buffer assignment)',
     'What holds the memory of a program at its peak?',
     'buffer_allocations, memory_peaks, heap_timeline, peak_memory, peak_holders',
     'programs after optimization', 'Give the dump of the program after optimizations '
     || '(*after_optimizations.hlo.pb), or a profile.'),
    (9, 'line', 'source lines of HLO instructions', 'Which line of my program is slow or holds the '
     || 'memory?',
     'hlo_instructions.source_file, hlo_ops.source_line, memory_by_source_line.user_file',
     'jax_include_full_tracebacks_in_locations', 'JAX: '
     || 'jax.config.update(''jax_include_full_tracebacks_in_locations'', True) before the '
     || 'function is compiled; a program from a compilation cache keeps what it was compiled '
     || 'with. PyTorch/XLA: the environment variables XLA_IR_DEBUG=1 and XLA_HLO_DEBUG=1.'),
    (10, 'memory', 'events of allocators',
     'How much memory was in use, when, and by what? What was '
     || 'live at the OOM?',
     'memory_events, memory_allocators, memory_time, memory_over_time, live_allocations, '
     || 'allocation_churn',
     'host_tracer_level = 2', 'JAX and TensorFlow record allocations of GPUs and TPUs, TensorFlow '
     || 'also of CPUs, from host_tracer_level 2 on. jax.profiler.save_device_memory_profile() '
     || 'writes a heap profile with Python stacks, for pprof.'),
    (11, 'allocation', 'names of what allocated the memory', 'Which op or tensor holds the memory?',
     'memory_events.tf_op, memory_events.shape', NULL,
     'JAX allocates outside of ops and records no name. The plans of its programs have them '
     || '(peak_holders with recorded_by = compiler), and '
     || 'jax.profiler.save_device_memory_profile() has Python stacks.'),
    (12, 'peak', 'peak rates of the devices',
     'What is the MFU? Is an op bound by compute or memory?',
     'devices.peak_flops_per_second, mfu.mfu_percent, hlo_ops.bound_by, roofline', NULL,
     'Give the peak of one device in FLOP/s: SELECT * FROM mfu(''logs'', 312e12).'),
    (13, 'scope', 'names of framework ops (scopes) in programs', 'Which layer or module is slow?',
     'hlo_instructions.tf_op, hlo_ops.tf_op, kernel_time_by_op', 'jax.named_scope, tf.name_scope',
     'Name layers with jax.named_scope, tf.name_scope or modules of Flax, Haiku or Keras. '
     || 'PyTorch/XLA: torch_xla.debug.profiler.Trace, with the environment variables '
     || 'XLA_IR_DEBUG=1 and XLA_HLO_DEBUG=1.'),
    (14, 'group', 'devices of a collective''s group',
     'Which device or host do the others wait for? '
     || 'Does a step take equally long on all hosts?',
     'collectives.wait_ps, collectives.global_wait_ps, stragglers', 'profile all hosts',
     'Profile all processes at the same time into one log dir, and copy all *.xplane.pb files into '
     || 'one run folder.'),
    (15, 'date', 'time of day at which the capture started', 'What did hosts do at the same time?',
     'hosts.start_unix_ns, collectives.global_wait_ps', 'a newer profiler',
     'Newer versions of JAX and TensorFlow record it (profile_start_time of the plane '
     || 'Task Environment).'),
    (16, 'counter', 'hardware counters', 'How busy are compute units, memory and links, from the '
     || 'hardware''s own counters?',
     'perf_counters, utilization, kernel_utilization', 'advanced_configuration',
     'JAX: options.advanced_configuration = {...}: tpu_enable_periodic_counter_sampling and '
     || 'tpu_tc_perf_counter_sampling_options on TPUs, gpu_pm_sample_counters and '
     || 'gpu_pm_sample_interval_us on NVIDIA GPUs (gpu_counters shows them).'),
    (17, 'flops', 'FLOPs of ops that ran on devices', 'What is the MFU? Which op wastes compute?',
     'mfu, hlo_ops.flops_actual, roofline', 'enable_hlo_proto = True',
     'This needs the HLO programs. Kernels that do not come from XLA have no FLOPs. For those '
     || 'of CUDA graphs whose instructions are unknown (graph_kernels), '
     || 'XLA_FLAGS=--xla_gpu_enable_command_buffer= (empty) makes XLA launch them one by one.'),
    (18, 'samples', 'power, temperature and clocks of GPUs',
     'Was the GPU throttled?', 'gpu_samples',
     'profsql-capture',
     'Record with profsql-capture, which samples them on NVIDIA GPUs (docs/capture.md).')
), captured(name, option, how) AS ( -- if profsql-capture recorded the run
    VALUES
    ('step', '--step-range NAME', 'NVTX ranges of this name are steps. PyTorch: '
     || 'torch.cuda.nvtx.range_push(''step'') before and range_pop() after each; JAX: --step-range '
     || '''XlaModule:#hlo_module=jit_FUNCTION,*'' without changing the program.'),
    ('python', 'NVTX ranges', 'profsql-capture records no Python. Mark code with NVTX ranges '
     || '(nvtx.annotate, torch.autograd.profiler.emit_nvtx): they are events of the host and '
     || 'become the tf_op of kernels.'),
    ('launch', '--kinds default', 'Record runtime and driver calls: --kinds without them '
     || 'records only kernels.'),
    ('program', 'JAX''s own profiler', 'profsql-capture sees no HLO programs. Code that XLA did '
     || 'not compile, as in PyTorch, has none.'),
    ('memory', '--kinds default', 'Record allocations: --kinds without memory leaves them out.'),
    ('allocation', NULL, 'CUDA records no names. PyTorch: torch.cuda.memory has snapshots with the '
     || 'stacks of allocations.'),
    ('counter', 'JAX''s own profiler', 'advanced_configuration gpu_pm_sample_counters and '
     || 'gpu_pm_sample_interval_us; or measure single kernels with Nsight Compute (ncu).'),
    ('flops', 'JAX''s own profiler', 'This needs the HLO programs. Kernels that do not come from '
     || 'XLA have no FLOPs.'),
    ('samples', '--gpu-samples MS', 'profsql-capture --gpu-samples 100 samples them ten times a '
     || 'second, through NVML.')
), on_amd(name, how) AS ( -- what no option records on GPUs of AMD
    VALUES
    ('counter', 'JAX samples counters of TPUs and NVIDIA GPUs only. rocprofv3 --pmc measures the '
     || 'kernels of a program.'),
    ('samples', 'profsql-capture samples NVIDIA GPUs only. Run amd-smi metric beside the program.')
), run AS MATERIALIZED (
    SELECT r.run, r.format IS NOT 'hlo' AS is_profile
    FROM temp.prof_runs(:source) AS r
), kind AS MATERIALIZED (
    SELECT run, max(kind = 'host' AND event_count > 0) AS host
    FROM temp.planes(:source)
    GROUP BY run
), work AS MATERIALIZED ( -- counters are not work
    SELECT run, max(kind = 'gpu') AS gpu
    FROM temp.device_time(:source)
    WHERE busy_ps IS NOT NULL
    GROUP BY run
), program AS MATERIALIZED (
    SELECT DISTINCT run FROM temp.hlo_modules(:source)
), instruction AS MATERIALIZED (
    SELECT run, max(source_file IS NOT NULL) AS line, max(tf_op IS NOT NULL) AS scope
    FROM temp.hlo_instructions(:source)
    GROUP BY run
), plan AS MATERIALIZED (
    SELECT DISTINCT run FROM temp.memory_peaks(:source)
), rate AS MATERIALIZED (
    SELECT run, max(peak_flops_per_second IS NULL) AS lacks_peak, max(vendor = 'AMD') AS is_amd
    FROM temp.devices(:source)
    GROUP BY run
), collective AS MATERIALIZED (
    SELECT run, max(wait_ps IS NOT NULL OR global_wait_ps IS NOT NULL) AS waits
    FROM temp.collectives(:source)
    GROUP BY run
), use AS MATERIALIZED ( -- the answer that needs FLOPs
    SELECT run, max(model_flops) > 0 AS flops
    FROM temp.mfu(:source)
    WHERE scope = 'run'
    GROUP BY run
), allocator AS MATERIALIZED ( -- events that memory_events lists, without its analysis
    SELECT e.run, e.plane_id, e.name = 'MemoryAllocation' AS allocates
    FROM (SELECT run, min(plane_id) AS plane_id
          FROM temp.planes(:source)
          WHERE name = '/host:CPU'
          GROUP BY run, host) AS p
         CROSS JOIN temp.event_totals(:source) AS e ON e.run = p.run AND e.plane_id = p.plane_id
    WHERE e.name IN ('MemoryAllocation', 'MemoryDeallocation')
), has AS MATERIALIZED (
    SELECT r.run, r.is_profile, k.host, w.run IS NOT NULL AS device, w.gpu,
           EXISTS (SELECT 1 FROM temp.host_steps(:source) AS s
                   WHERE s.run = r.run AND s.step IS NOT NULL) AS step,
           EXISTS (SELECT 1 FROM temp.event_totals(:source) AS e
                   WHERE e.run = r.run AND e.plane_kind = 'host' AND e.name GLOB '$*') AS python,
           EXISTS (SELECT 1 FROM temp.launch_delays(:source) AS d WHERE d.run = r.run) AS launch,
           r.run IN (SELECT run FROM program) AS program, r.run IN (SELECT run FROM plan) AS plan,
           i.line, i.scope, p.lacks_peak, c.waits,
           EXISTS (SELECT 1 FROM allocator AS a WHERE a.run = r.run) AS memory,
           EXISTS (SELECT 1 FROM allocator AS a WHERE a.run = r.run AND a.allocates) AS allocates,
           EXISTS (SELECT 1 FROM allocator AS a
                        CROSS JOIN temp.trace_events(:source) AS e ON e.plane_id = a.plane_id
                   WHERE a.run = r.run AND a.allocates AND e.run = r.run
                     AND e.name = 'MemoryAllocation' AND e.tf_op <> '(null)') AS named,
           EXISTS (SELECT 1 FROM use AS u WHERE u.run = r.run AND u.flops) AS flops,
           NOT EXISTS (SELECT 1 FROM temp.hosts(:source) AS h
                       WHERE h.run = r.run AND h.start_unix_ns IS NULL) AS date,
           EXISTS (SELECT 1 FROM temp.perf_counters(:source) AS f WHERE f.run = r.run)
           OR EXISTS (SELECT 1 FROM temp.gpu_counters(:source) AS f
                      WHERE f.run = r.run AND f.name GLOB '*__*') AS counter,
           EXISTS (SELECT 1 FROM temp.gpu_samples(:source) AS g WHERE g.run = r.run) AS samples,
           EXISTS (SELECT 1 FROM temp.session(:source) AS s
                   WHERE s.run = r.run AND s.name = 'cupti_api_version') AS is_capture,
           p.is_amd
    FROM run AS r LEFT JOIN kind AS k ON k.run = r.run LEFT JOIN work AS w ON w.run = r.run
         LEFT JOIN instruction AS i ON i.run = r.run
         LEFT JOIN rate AS p ON p.run = r.run
         LEFT JOIN collective AS c ON c.run = r.run
)
SELECT h.run, l.missing, l.cannot_answer, l.tables,
       CASE WHEN a.how IS NOT NULL THEN NULL WHEN c.how IS NOT NULL THEN c.option ELSE l.option END,
       coalesce(a.how, c.how, l.how)
FROM has AS h CROSS JOIN lack AS l LEFT JOIN captured AS c ON c.name = l.name AND h.is_capture
     LEFT JOIN on_amd AS a ON a.name = l.name AND h.is_amd
WHERE CASE l.name WHEN 'events' THEN NOT is_profile
                  WHEN 'plan' THEN program AND NOT plan
                  WHEN 'line' THEN NOT line
                  WHEN 'scope' THEN NOT scope
                  WHEN 'host' THEN is_profile AND NOT coalesce(host, 0)
                  WHEN 'device' THEN is_profile AND NOT device
                  WHEN 'step' THEN is_profile AND NOT step
                  WHEN 'python' THEN host AND NOT python
                  WHEN 'launch' THEN gpu AND NOT launch
                  WHEN 'program' THEN is_profile AND NOT program
                  WHEN 'memory' THEN is_profile AND NOT memory
                  WHEN 'allocation' THEN allocates AND NOT named
                  WHEN 'peak' THEN device AND lacks_peak
                  WHEN 'flops' THEN device AND NOT flops
                  WHEN 'group' THEN NOT waits
                  WHEN 'date' THEN is_profile AND NOT date
                  WHEN 'counter' THEN device AND NOT counter
                  WHEN 'samples' THEN gpu AND NOT samples
      END
ORDER BY h.run, l.place

-- The input pipeline, the overview and what they recommend.
.bail off
SELECT 'made to wait for its input', verdict, input_percent > 50, advice IS NOT NULL
    FROM input_bound('tests/data/tf_fit_input_bound');
SELECT 'the same with the data read ahead', verdict, input_percent < 5, advice
    FROM input_bound('tests/data/tf_fit_prefetched');
SELECT 'steps that XProf knows', verdict, input_percent BETWEEN 20 AND 80, advice IS NOT NULL
    FROM input_bound('tests/data/tf_input_slow');
SELECT 'and with the data read ahead', verdict, input_percent < 5, advice
    FROM input_bound('tests/data/tf_input_prefetched');
SELECT 'XProf knows no step of it', step_count, input_percent, input_verdict, step_time_ms_average
    FROM input_pipeline('tests/data/tf_fit_input_bound');
SELECT 'verdicts', hardware, input_verdict, output_verdict, kernel_launch_verdict,
       collectives_verdict, all_others_verdict FROM input_pipeline('tests/data/gpu_train_38');
SELECT 'of the other flavour', count(*), count(device_compute_ms), count(tc_compute_ms)
    FROM input_steps('tests/data/tpu_train_54');
SELECT 'of the other flavour', count(*), count(device_compute_ms), count(tc_compute_ms)
    FROM input_steps('tests/data/gpu_train_38');
SELECT 'shares sum to the rest of a step', count(*) = 0 FROM input_steps('tests/data/gpu_train_38')
 WHERE abs(step_time_ms - device_compute_ms - device_to_device_ms - device_collectives_ms
           - host_compute_ms - kernel_launch_ms - input_ms - output_ms - compilation_ms
           - all_others_ms) > 1e-9;
SELECT 'unknown is NULL', name, value FROM overview('tests/data/tpu_train_54') WHERE value IS NULL
    ORDER BY name;
SELECT 'a property once', count(*) = count(DISTINCT section || name)
    FROM overview('tests/data/tpu_train_54');
SELECT 'every verdict has words', count(*) > 0, count(*) = count(statement)
    FROM recommendations('tests/data/gpu_train_38') WHERE severity <> 'info';
SELECT 'one row a run', count(*) FROM kpi('tests/data/tpu_train_54');
SELECT 'no devices, no verdict on them', count(*) > 0, count(bound)
    FROM host_bound('tests/data/jax_train_mlp');
SELECT 'shares of TPU steps', what FROM host_bound('tests/data/tpu_train_54') ORDER BY percent DESC;
SELECT 'sections', group_concat(DISTINCT section) FROM overview_page('tests/data/gpu_train_38');
SELECT 'nobody to compare with', count(*), count(z_score), count(straggler)
    FROM stragglers('tests/data/gpu_train_38');
SELECT 'both cores, no verdict', rank, plane, own_ms < step_ms, over_median_ms > 0, straggler,
       waited_ms > 0 FROM stragglers('tests/data/tpu_train_54');
SELECT 'suggestions', section, code, severity FROM recommendations('tests/data/tpu_train_54')
    WHERE section LIKE '%suggestion%';
SELECT 'actual shares', input_percent_actual > 0, output_percent_actual IS NULL,
       kernel_launch_verdict_actual FROM input_pipeline('tests/data/tf_fit_input_bound');
SELECT 'actual shares', round(input_percent_actual, 1), round(kernel_launch_percent_actual, 1),
       kernel_launch_verdict_actual, kernel_launch_percent
    FROM input_pipeline('tests/data/gpu_train_38');
SELECT 'dropped steps stay', count(*), sum(dropped),
       (SELECT count(*) FROM input_steps('tests/data/jax_train_mlp'))
    FROM steps('tests/data/jax_train_mlp');
SELECT 'kpi', step_count, round(step_time_ms, 1), round(step_time_deviation_percent), input_verdict,
       round(peak_memory_mib, 2), peak_memory_of FROM kpi('tests/data/tf_fit_input_bound');
SELECT 'kpi', step_count, peak_memory_mib > 2000, peak_memory_of, kernel_launch_percent
    FROM kpi('tests/data/tpu_train_54');
SELECT 'not on the page', section, value FROM overview('tests/data/tpu_train_54')
    WHERE name = 'device_op_time_outside_compilation_percent';
-- by hand: from the begin of each recv-done to the end of the host's event that begins while the
-- transfer lasts, in ns
SELECT 'stall on the host', rendezvous_name, printf('%.7f', host_stall_ms),
       printf('%.7f', CASE rendezvous_name WHEN 'rendezvous_1' THEN (10399870 - 10207722)
              + (17703606 - 17182232) WHEN 'rendezvous_2' THEN (6365501 - 5758641)
              + (13603966 - 12899329)
                                           ELSE (6050860 - 5870451) + (13706411 - 13006963)
                                               END / 2e6)
                                               FROM dcn_collectives('tests/data/megascale_small');

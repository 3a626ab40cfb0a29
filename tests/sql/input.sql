-- The input pipeline, the overview and what they recommend.
.bail off
SELECT 'made to wait for its input', verdict, input_percent > 50, advice IS NOT NULL FROM input_bound('tests/data/tf_fit_input_bound');
SELECT 'XProf knows no step of it', step_count, input_percent, input_verdict, step_time_ms_average FROM input_pipeline('tests/data/tf_fit_input_bound');
SELECT 'verdicts', hardware, input_verdict, output_verdict, kernel_launch_verdict, collectives_verdict, all_others_verdict FROM input_pipeline('tests/data/gpu_train_38');
SELECT 'of the other flavour', count(*), count(device_compute_ms), count(tc_compute_ms) FROM input_steps('tests/data/tpu_train_54');
SELECT 'of the other flavour', count(*), count(device_compute_ms), count(tc_compute_ms) FROM input_steps('tests/data/gpu_train_38');
SELECT 'shares sum to the rest of a step', count(*) = 0 FROM input_steps('tests/data/gpu_train_38')
 WHERE abs(step_time_ms - device_compute_ms - device_to_device_ms - device_collectives_ms - host_compute_ms - kernel_launch_ms - input_ms - output_ms - compilation_ms - all_others_ms) > 1e-9;
SELECT 'unknown is NULL', name, value FROM overview('tests/data/tpu_train_54') WHERE value IS NULL ORDER BY name;
SELECT 'a property once', count(*) = count(DISTINCT section || name) FROM overview('tests/data/tpu_train_54');
SELECT 'every verdict has words', count(*) > 0, count(*) = count(statement) FROM recommendations('tests/data/gpu_train_38') WHERE severity <> 'info';
SELECT 'one row a run', count(*) FROM kpi('tests/data/tpu_train_54');
SELECT 'no devices, no verdict on them', count(*) > 0, count(bound) FROM host_bound('tests/data/jax_train_mlp');
SELECT 'shares of TPU steps', what FROM host_bound('tests/data/tpu_train_54') ORDER BY percent DESC;
SELECT 'sections', group_concat(DISTINCT section) FROM overview_page('tests/data/gpu_train_38');

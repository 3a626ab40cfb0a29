-- SPDX-License-Identifier: Apache-2.0
-- Which lines of my program take the time?
-- example: SELECT user_file, user_line, self_us, percent FROM time_by_source_line WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of lines of each run, longest first; NULL for all
-- needs: events
-- nothing: no device has work, and no event of a host thread is an op of an HLO program or of
--   TensorFlow
-- column run TEXT: name of the run
-- column rank INTEGER: rank by self time within the run; 1 is the longest
-- column plane_kind TEXT: where the ops ran: gpu, tensorcore or sparsecore; host in a run without
--   devices
-- column user_file TEXT: source file of the user's own program, not of a library or framework
--   (docs/semantics.md, User line); NULL for ops that come from none
-- column user_line INTEGER: line number in user_file; NULL if user_file is NULL
-- column user_function TEXT: function that contains the line; NULL if unknown
-- column forward_us REAL [us]: self time of the line's ops of the forward pass, which includes the
--   optimizer, over all devices or threads
-- column backward_us REAL [us]: self time of the line's ops that compute gradients
-- column recomputed_us REAL [us]: self time of the line's ops that compute values again for the
--   gradients (jax.checkpoint, rematerialization)
-- column unknown_us REAL [us]: self time of the line's ops whose pass is unknown: no name of a
--   framework op shows it (scope_ops.pass is NULL)
-- column self_us REAL [us]: forward_us + backward_us + recomputed_us + unknown_us
-- column percent REAL [percent 0..100]: self_us as a share of the self time of all ops of the run
--   and plane_kind; NULL if that is 0
-- column occurrences INTEGER [events]: number of events of the line's ops
-- column flops REAL [FLOP]: operations of the line's ops (scope_ops.flops), without those whose
--   number is unknown; NULL if all are unknown
-- column bytes_accessed REAL [bytes]: bytes read and written by the line's ops
--   (scope_ops.bytes_accessed), without those whose number is unknown; NULL if all are unknown
-- column scope TEXT: scope of top_op; NULL if it has none
-- column top_op TEXT: op with the most self time: the HLO instruction, else the framework op, else
--   the name of the events; for a kernel of a CUDA graph whose instruction is unknown, its name
WITH op AS MATERIALIZED (
    SELECT run, plane_kind, user_file, user_line, user_function, scope, pass, self_us, occurrences,
           flops, bytes_accessed,
           coalesce(iif(hlo_op IS NOT NULL, name, NULL), hlo_op, tf_op, name) AS op
    FROM temp.scope_ops(:source)
), line AS ( -- user_function, scope and op are those of the row with the largest self time
    SELECT run, plane_kind, user_file, user_line,
           total(self_us) FILTER (WHERE pass = 'forward') AS forward_us,
           total(self_us) FILTER (WHERE pass = 'backward') AS backward_us,
           total(self_us) FILTER (WHERE pass = 'recomputed') AS recomputed_us,
           total(self_us) FILTER (WHERE pass IS NULL) AS unknown_us,
           total(self_us) AS self_us, sum(occurrences) AS occurrences, sum(flops) AS flops,
           sum(bytes_accessed) AS bytes_accessed, max(self_us), user_function, scope, op
    FROM op
    GROUP BY run, plane_kind, user_file, user_line
), ranked AS (
    SELECT *, total(self_us) OVER (PARTITION BY run, plane_kind) AS all_us,
           row_number() OVER (PARTITION BY run
                              ORDER BY self_us DESC, plane_kind, user_file, user_line) AS rank
    FROM line
)
SELECT run, rank, plane_kind, user_file, user_line, user_function, forward_us, backward_us,
       recomputed_us, unknown_us, self_us, 100.0 * self_us / all_us, occurrences, flops,
       bytes_accessed, scope, op
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank

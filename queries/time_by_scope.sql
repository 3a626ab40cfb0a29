-- SPDX-License-Identifier: Apache-2.0
-- Which layer, module or named scope takes the time, in the forward and in the backward pass?
-- example: SELECT scope, forward_us, backward_us, percent FROM time_by_scope WHERE depth = 1
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter depth INTEGER = 2: number of components of a scope to keep: a/b/c becomes a with 1 and
--   a/b with 2; a large number keeps all
-- parameter by_iteration INTEGER = 0: 1: a row for each iteration of a loop over layers (scan); 0:
--   one row for all its iterations
-- parameter n INTEGER = NULL: number of scopes of each run, longest first; NULL for all
-- needs: events
-- nothing: no device has work, and no event of a host thread is an op of an HLO program or of
--   TensorFlow
-- column run TEXT: name of the run
-- column rank INTEGER: rank by self time within the run; 1 is the longest
-- column plane_kind TEXT: where the ops ran: gpu, tensorcore or sparsecore; host in a run without
--   devices
-- column scope TEXT: path of the scope (scope_ops.scope), cut after depth components; NULL for the
--   ops outside of any scope
-- column iteration INTEGER: iteration of the loop around the ops (scope_ops.iteration), with
--   by_iteration = 1; NULL otherwise, and outside of loops
-- column forward_us REAL [us]: self time of the scope's ops of the forward pass, which includes the
--   optimizer, over all devices or threads
-- column backward_us REAL [us]: self time of the scope's ops that compute gradients
-- column recomputed_us REAL [us]: self time of the scope's ops that compute values again for the
--   gradients (jax.checkpoint, rematerialization)
-- column unknown_us REAL [us]: self time of the scope's ops whose pass is unknown: no name of a
--   framework op shows it (scope_ops.pass is NULL)
-- column self_us REAL [us]: forward_us + backward_us + recomputed_us + unknown_us
-- column percent REAL [percent 0..100]: self_us as a share of the self time of all ops of the run
--   and plane_kind; NULL if that is 0
-- column occurrences INTEGER [events]: number of events of the scope's ops
-- column flops REAL [FLOP]: operations of the scope's ops (scope_ops.flops), without those whose
--   number is unknown; NULL if all are unknown
-- column bytes_accessed REAL [bytes]: bytes read and written by the scope's ops
--   (scope_ops.bytes_accessed), without those whose number is unknown; NULL if all are unknown
-- column scope_by TEXT: where the scope of top_op comes from: name, or stack (modules of the Python
--   stack); NULL if scope is NULL
-- column owner_by TEXT: how the owner of top_op was found: own, fused, user, producer or caller;
--   NULL if it has none
-- column top_op TEXT: op with the most self time: the HLO instruction, else the framework op, else
--   the name of the events; for a kernel of a CUDA graph whose instruction is unknown, its name
WITH op AS MATERIALIZED (
    SELECT run, plane_kind, scope_prefix(scope, coalesce(:depth, 2)) AS scope,
           CASE WHEN coalesce(:by_iteration, 0) THEN iteration END AS iteration, pass, self_us,
           occurrences, flops, bytes_accessed, scope_by, owner_by,
           coalesce(iif(hlo_op IS NOT NULL, name, NULL), hlo_op, tf_op, name) AS op
    FROM temp.scope_ops(:source)
), scoped AS ( -- scope_by, owner_by and op are those of the row with the largest self time
    SELECT run, plane_kind, scope, iteration,
           total(self_us) FILTER (WHERE pass = 'forward') AS forward_us,
           total(self_us) FILTER (WHERE pass = 'backward') AS backward_us,
           total(self_us) FILTER (WHERE pass = 'recomputed') AS recomputed_us,
           total(self_us) FILTER (WHERE pass IS NULL) AS unknown_us,
           total(self_us) AS self_us, sum(occurrences) AS occurrences, sum(flops) AS flops,
           sum(bytes_accessed) AS bytes_accessed, max(self_us), scope_by, owner_by, op
    FROM op
    GROUP BY run, plane_kind, scope, iteration
), ranked AS (
    SELECT *, total(self_us) OVER (PARTITION BY run, plane_kind) AS all_us,
           row_number() OVER (PARTITION BY run
                              ORDER BY self_us DESC, plane_kind, scope, iteration) AS rank
    FROM scoped
)
SELECT run, rank, plane_kind, scope, iteration, forward_us, backward_us, recomputed_us, unknown_us,
       self_us, 100.0 * self_us / all_us, occurrences, flops, bytes_accessed, scope_by, owner_by,
       op
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank

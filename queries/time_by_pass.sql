-- SPDX-License-Identifier: Apache-2.0
-- Does the forward pass, the backward pass or the optimizer take the time?
-- example: SELECT pass, self_us, percent, top_scope FROM time_by_pass
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events
-- nothing: no device has work, and no event of a host thread is an op of an HLO program or of
--   TensorFlow
-- column run TEXT: name of the run
-- column rank INTEGER: rank by self time within the run; 1 is the longest
-- column plane_kind TEXT: where the ops ran: gpu, tensorcore or sparsecore; host in a run without
--   devices
-- column pass TEXT: optimizer: ops outside the backward and recomputed passes whose scope
--   (scope_ops.scope) has a component that names an optimizer, alone or followed by a digit, dot or
--   colon; case and underscores are ignored. The names are adadelta, adafactor, adagrad, adam,
--   adamax, adamw, applygradients, applyupdates, ftrl, lamb, lars, lion, momentum, muon, nadam,
--   optax, optimizer, radam, rmsprop, sgd and shampoo. forward, backward and recomputed: other ops,
--   as in scope_ops.pass. An optimizer without such a scope counts as forward. NULL: ops whose pass
--   is unknown
-- column self_us REAL [us]: self time of the ops, over all devices or threads
-- column percent REAL [percent 0..100]: self_us as a share of the self time of all ops of the run
--   and plane_kind; NULL if that is 0
-- column occurrences INTEGER [events]: number of events of the ops
-- column top_scope TEXT: entire scope with the most self time in this pass; NULL if that is outside
--   all scopes
-- column top_scope_us REAL [us]: self time of top_scope in this pass
WITH optimizer(word) AS MATERIALIZED (
    VALUES ('adadelta'), ('adafactor'), ('adagrad'), ('adam'), ('adamax'), ('adamw'),
           ('applygradients'), ('applyupdates'), ('ftrl'), ('lamb'), ('lars'), ('lion'),
           ('momentum'), ('muon'), ('nadam'), ('optax'), ('optimizer'), ('radam'), ('rmsprop'),
           ('sgd'), ('shampoo')
), scoped AS MATERIALIZED (
    SELECT run, plane_kind, pass, scope, total(self_us) AS self_us, sum(occurrences) AS occurrences,
           '/' || lower(replace(scope, '_', '')) || '/' AS path
    FROM temp.scope_ops(:source)
    GROUP BY run, plane_kind, pass, scope
), passed AS (
    SELECT *,
           CASE WHEN coalesce(pass, 'forward') = 'forward'
                     AND EXISTS (SELECT 1 FROM optimizer
                                 WHERE path GLOB '*/' || word || '[/:.0-9]*')
                THEN 'optimizer' ELSE pass END AS of_pass
    FROM scoped
), joined AS ( -- an optimizer's scope can have ops whose pass is unknown, and others
    SELECT run, plane_kind, of_pass AS pass, scope, total(self_us) AS self_us,
           sum(occurrences) AS occurrences
    FROM passed
    GROUP BY run, plane_kind, of_pass, scope
), summed AS ( -- scope is that of the row with the largest self time
    SELECT run, plane_kind, pass, total(self_us) AS self_us, sum(occurrences) AS occurrences,
           max(self_us) AS top_us, scope
    FROM joined
    GROUP BY run, plane_kind, pass
)
SELECT run, row_number() OVER (PARTITION BY run ORDER BY self_us DESC, plane_kind, pass),
       plane_kind, pass, self_us,
       100 * self_us / total(self_us) OVER (PARTITION BY run, plane_kind), occurrences,
       scope, top_us
FROM summed
ORDER BY run, 2

-- The trials that no other dominates, ascending, as a JSON list. What older studies of several objectives or with outcome
-- constraints have in it, and in best_trial, is put right by their next event: it takes their log to tell.
ALTER TABLE studies ADD COLUMN optimal_trials TEXT NOT NULL DEFAULT '[]';
UPDATE studies SET optimal_trials = json_array(best_trial)
  WHERE best_trial IS NOT NULL
    AND coalesce(json_array_length(spec, '$.objective'), 0) <= 1
    AND coalesce(json_array_length(spec, '$.outcome_constraints'), 0) = 0;

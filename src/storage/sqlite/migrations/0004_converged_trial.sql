-- The trial at which the study's convergence came true; null if it is not. No older study asks for it.
ALTER TABLE studies ADD COLUMN converged_trial INTEGER;

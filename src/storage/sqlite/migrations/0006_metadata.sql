-- What programs keep beside the study, as a JSON list; that of trials is in their rows.
ALTER TABLE studies ADD COLUMN metadata TEXT NOT NULL DEFAULT '[]';

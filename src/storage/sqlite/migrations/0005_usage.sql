-- What the attempts of its trials used that have ended. What older studies have is put right by their next event.
ALTER TABLE studies ADD COLUMN cpu_time_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN gpu_time_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN peak_memory_bytes INTEGER NOT NULL DEFAULT 0;

-- No job has been given up, and none is left undone for 15 minutes after its time. Jobs of one attempt come again by the clock.
SELECT id::text AS id, kind || ', ' || state || ', attempt ' || attempt || ' of ' || max_attempts || ', due ' || scheduled_at AS detail
FROM jobs.river_job
WHERE state = 'discarded' AND max_attempts > 1
   OR state IN ('available', 'scheduled', 'retryable') AND scheduled_at < now() - interval '15 minutes'

-- No job has been given up that was not done since, and none is left undone for 15 minutes. Jobs of one attempt come again by the clock.
SELECT id::text AS id, kind || ', ' || state || ', attempt ' || attempt || ' of ' || max_attempts || ', due ' || scheduled_at AS detail
FROM jobs.river_job j
WHERE state = 'discarded' AND max_attempts > 1
      AND NOT EXISTS (SELECT 1 FROM jobs.river_job d WHERE d.kind = j.kind AND d.args = j.args AND d.state = 'completed' AND d.finalized_at > j.finalized_at)
   OR state IN ('available', 'scheduled', 'retryable') AND scheduled_at < now() - interval '15 minutes'

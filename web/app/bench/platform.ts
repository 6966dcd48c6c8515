import { execFileSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';
import start, { type Platform } from '../tests/platform';

/** The platform of the tests, filled by `marquee seed --scale` and with webhook calls by COPY. */
export default async function setup(project: TestProject) {
  const stop = await start(project);
  const { BINARY = '', FILL = '', SCALE = '', WEBHOOKS = '' } = process.env;
  const env = { ...process.env, DATABASE_URL: project.getProvidedContext().platform.database_url };
  try {
    execFileSync(BINARY, ['seed', `--scale=${SCALE}`], { env, stdio: ['ignore', 'inherit', 'inherit'] });
    execFileSync(FILL, ['-webhooks', WEBHOOKS], { env, stdio: ['ignore', 'inherit', 'inherit'] });
    await quiet(project.getProvidedContext().platform);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return stop;
}

/** Waits until no job runs: the checks of the data read all of it, on both cores, once they are due. */
async function quiet({ url, users: { root } }: Platform) {
  const form = new URLSearchParams({ username: root.username, password: root.password });
  for (;;) {
    const signedIn = await fetch(`${url}/api/v1/token`, { method: 'POST', body: form });
    const { access_token: token } = (await signedIn.json()) as { access_token: string };
    const running = await fetch(`${url}/api/v1/admin/jobs?state=running`, { headers: { Authorization: `Bearer ${token}` } });
    const { jobs } = (await running.json()) as { jobs: unknown[] };
    if (jobs.length === 0) return;
    process.stdout.write(`waiting for ${String(jobs.length)} jobs\n`);
    await new Promise((resolve) => { setTimeout(resolve, 5000); });
  }
}

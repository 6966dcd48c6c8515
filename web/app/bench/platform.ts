import { execFileSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';
import start from '../tests/platform';

/** The platform of the tests, filled by `marquee seed --scale` and with webhook calls by COPY. */
export default async function setup(project: TestProject) {
  const stop = await start(project);
  const { BINARY = '', FILL = '', SCALE = '', WEBHOOKS = '' } = process.env;
  const env = { ...process.env, DATABASE_URL: project.getProvidedContext().platform.database_url };
  try {
    execFileSync(BINARY, ['seed', `--scale=${SCALE}`], { env, stdio: ['ignore', 'inherit', 'inherit'] });
    execFileSync(FILL, ['-webhooks', WEBHOOKS], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  } catch (cause) {
    await stop();
    throw cause;
  }
  return stop;
}

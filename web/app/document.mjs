// document.mjs BINARY FILE: what the binary says of its API at /api/v1/openapi.json, into the file. The address that
// it is served at, another each time, is left out, so that equal APIs give equal files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [binary, file] = process.argv.slice(2);
const data = await mkdtemp(join(tmpdir(), 'marquee-openapi-'));
const dev = spawn(binary, ['dev', '--json', '--addr', '127.0.0.1:0', '--data-dir', data], { stdio: ['ignore', 'pipe', 'ignore'] });
const ended = once(dev, 'exit');
try {
  const ready = once(createInterface(dev.stdout), 'line');
  const [line] = await Promise.race([ready, ended.then(([code]) => { throw new Error(`marquee dev ended with ${code}`); })]);
  const response = await fetch(`${JSON.parse(line).url}/api/v1/openapi.json`);
  const { servers, ...document } = await response.json();
  await writeFile(file, JSON.stringify(document));
} finally {
  dev.kill('SIGTERM');
  await ended;
  await rm(data, { recursive: true, force: true });
}

import { execFileSync, spawn } from 'node:child_process';
import { chmod, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { TestProject } from 'vitest/node';

/** What `marquee dev --json` says when it is ready. */
export interface Platform {
  url: string;
  database_url: string;
  mailbox_url: string;
  clock_url: string;
  sandbox: { gwa: string; gwb: string };
  webhooks: { gwa_token: string; gwb_secret: string };
  users: Record<'root' | 'admin' | 'customer', { username: string; password: string }>;
}

declare module 'vitest' {
  export interface ProvidedContext { platform: Platform }
}

/** Starts the whole platform in a folder of its own, and stops it after the last test. */
export default async function setup(project: TestProject) {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-web-'));
  await chmod(folder, 0o755); // Postgres is another user where this one is root
  const log = await open(join(folder, 'log'), 'w');
  const binary = process.env['BINARY'] ?? join(import.meta.dirname, '../../../bin/marquee');
  const dev = spawn(binary, ['dev', '--json', '--no-throttle', '--addr', '127.0.0.1:0', '--data-dir', join(folder, 'data')], {
    stdio: ['ignore', 'pipe', log.fd],
  });
  const ended = new Promise<void>((resolve) => { dev.on('exit', () => { resolve(); }); });
  const ready = new Promise<Platform>((resolve, reject) => {
    createInterface({ input: dev.stdout as Readable }).once('line', (line) => { resolve(JSON.parse(line) as Platform); });
    dev.on('exit', (code) => { reject(new Error(`marquee dev ended with ${String(code)}; its log is ${folder}/log`)); });
  });
  const platform = await ready;
  if (process.env['PICTURES'] === '1') {
    const env = { ...process.env, DATABASE_URL: platform.database_url };
    execFileSync(binary, ['seed', '--scale=600'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    execFileSync(process.env['FILL'] ?? '', ['-recurrences'], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  }
  // Pages call themselves localhost, where passkeys work too.
  project.provide('platform', { ...platform, url: platform.url.replace('127.0.0.1', 'localhost') });
  return async () => {
    dev.kill('SIGTERM');
    await ended;
    await log.close();
    await rm(folder, { recursive: true, force: true });
  };
}

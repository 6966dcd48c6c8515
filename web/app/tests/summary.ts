import type { Reporter, TestModule } from 'vitest/node';

/** Ends the run by the line `N passed, N failed`. */
export default class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]) {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      if (module.errors().length) failed++;
      for (const test of module.children.allTests()) {
        if (test.result().state === 'passed') passed++;
        else failed++;
      }
    }
    process.on('exit', () => { process.stdout.write(`${passed} passed, ${failed} failed\n`); });
  }
}

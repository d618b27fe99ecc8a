import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

/** Tests that only compute. */
const unitTests = ['packages/core/planner/test/release/release-plan-hash.test.ts', 'packages/words/clock/test']
/** Programs that tests with a need of them look for, install with, or start. */
const programs = ['apt-get', 'dpkg', 'flock', 'redis-server', 'kubectl', 'helm', 'docker', 'go', 'npm', 'npx', 'sh', 'setpriv']

it('a run of unit tests calls no installer and starts no Redis, kubectl or helm', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of programs) writeFileSync(join(folder, name), `#!/bin/sh\necho "$*" >'${folder}/called-${name}'\n`, { mode: 0o755 })
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'fast', ...unitTests]
  // Under CI whatever is missing is a failure.
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH: folder, HOME: folder, CI: '1' } })
  expect(stdout).toMatch(/^[1-9]\d* passed, 0 failed, 0 skipped$/m)
  expect(readdirSync(folder).filter((name) => name.startsWith('called-'))).toEqual([])
})

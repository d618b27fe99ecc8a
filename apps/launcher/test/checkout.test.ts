import { execFileSync } from 'node:child_process'
import { delimiter, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { kubectlForTests } from '../../../scripts/kubectl-for-tests.ts'

const kubectlIsMissing = !kubectlForTests()
/** The folder that README.md puts on the PATH. */
const env = { ...process.env, PATH: [resolve('apps/launcher/bin/checkout'), process.env['PATH']].join(delimiter) }

it.each(['tranche', 'kubectl-tranche'])('the checkout has %s for the PATH', (name) => {
  expect(execFileSync(name, ['version'], { env, encoding: 'utf8' })).toMatch(/^tranche \d+\.\d+\.\d+ /)
})

it.skipIf(kubectlIsMissing)('kubectl finds the plugin in the checkout, and completes its arguments', () => {
  expect(execFileSync('kubectl', ['tranche', 'version'], { env, encoding: 'utf8' })).toMatch(/^tranche \d+\.\d+\.\d+ /)
  const completed = execFileSync('kubectl', ['__complete', 'tranche', 'rest'], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  expect(completed).toMatch(/^restart\b/)
})

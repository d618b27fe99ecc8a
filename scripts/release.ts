/**
 * Releases the version of package.json: builds image, chart, command line and npm package, tries them, signs them, and publishes them.
 *
 * ```text
 * pnpm release --dry-run                                    everything but publishing; needs no credentials
 * pnpm release --registry HOST/PATH --repository OWNER/NAME --darwin FOLDER
 * ```
 *
 * - `--registry` is where image and chart go, and `--repository` the repository on GitHub. A dry run uses examples instead.
 * - `--darwin` is a folder with the archives for macOS, which `pnpm build:archive` builds there. Without it there are none.
 * - `--output` is the folder of what is built, by default `dist/release`. It is replaced.
 */
import { parseArgs } from 'node:util'
import { exampleAddresses } from './release/addresses.ts'
import { localTools } from './release/local-tools.ts'
import { releaseSteps } from './release/release-steps.ts'
import { readFacts } from './release/repository-facts.ts'
import { runCommand } from './release/run-command.ts'
import { runSteps, seconds } from './release/run-steps.ts'

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    registry: { type: 'string' },
    repository: { type: 'string' },
    darwin: { type: 'string' },
    output: { type: 'string', default: 'dist/release' },
  },
})
const dryRun = values['dry-run']
const given = {
  ...(values.registry !== undefined && { registry: values.registry }),
  ...(values.repository !== undefined && { repository: values.repository }),
}
const facts = await readFacts(runCommand)
const { GITHUB_WORKFLOW_REF: ref = '', GITHUB_RUN_ID: runId = '', GITHUB_RUN_ATTEMPT: attempt = '', BUILD_IMAGE: image = '' } = process.env
const job = {
  ...facts,
  addresses: { ...exampleAddresses, ...given },
  workflow: dryRun ? null : { ref, runId, attempt, image },
  darwin: values.darwin ?? null,
  folder: values.output,
}

await using tools = localTools({ job, facts, given, dryRun })
try {
  const durationMs = await runSteps(releaseSteps(tools), { now: () => performance.now(), print: (line) => console.log(line) })
  const outcome = dryRun ? `nothing is published; ${values.output} has what was built` : 'published'
  console.log(`${facts.version}: ${outcome}, in ${seconds(durationMs)}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

/**
 * Costs of releases in virtual time: `pnpm costs`. Prints what differs from test/scenarios/costs/recorded-costs.json; the tests fail on any
 * difference.
 *
 * ```text
 * pnpm costs            prints the differences; exits with 1 if there is one
 * pnpm costs --record   records the measured costs
 * ```
 */
import { parseArgs } from 'node:util'
import { costDifferences, measuredReleases, readCosts, recordCosts } from '../test/scenarios/costs/recorded-costs.ts'
import { measureRelease, type ReleaseCosts } from '../test/scenarios/costs/release-costs.ts'

const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } })
const recorded = readCosts()
const measured: Record<string, ReleaseCosts> = {}
let differences = 0
for (const [name, release] of Object.entries(measuredReleases)) {
  const costs = await measureRelease(release)
  measured[name] = costs
  const found = costDifferences(recorded[name] ?? {}, costs)
  differences += found.length
  console.log(`${name}: ${found.length === 0 ? 'as recorded' : ''}`)
  for (const one of found) console.log(`  ${one}`)
}
if (values.record) recordCosts(measured)
process.exitCode = values.record || differences === 0 ? 0 : 1

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generateSchedule } from '../faults/generate.ts'
import type { Schedule } from '../faults/schedule.ts'

const page = readFileSync('docs/contribute/fault-bench.md', 'utf8')
const [, ...numbers] = /\*\*The fault phase\*\*: (\d+) to (\d+) minutes, with (\d+) to (\d+) faults\./.exec(page) ?? []
const [shortest, longest, fewest, most] = numbers.map(Number)
/**
 * Faults that the page lists as drawn separately. Left out instead are schedules with wrong clocks, whose leaders are killed, with
 * pinned config, whose controllers are trapped, and with steps that change for a deletion.
 */
const apart =
  /^(?:zoneOutage|taintPool|outOfService|crowd|consume|drainByOther|holdNode|companion|noRegistry|forge|copyAgent|spoilStatus|swapDefinitions|deleteRelease)/

it('docs/contribute/fault-bench.md states the length of the fault phase and the number of its faults', () => {
  const schedules = Array.from({ length: 2_000 }, (_, seed) => generateSchedule(seed)).filter(isPlain)
  const minutes = schedules.map(({ stormMs }) => stormMs / 60_000)
  expect([Math.floor(Math.min(...minutes)), Math.ceil(Math.max(...minutes))]).toEqual([shortest, longest])
  const counts = schedules.map(({ incidents }) => incidents.filter(({ kind }) => !apart.test(kind)).length)
  expect([Math.min(...counts), Math.max(...counts)]).toEqual([fewest, most])
  const hasMore = schedules.some(({ incidents }) => incidents.length > (most ?? 0))
  expect(/are drawn\s+separately and are added to these\./.test(page)).toBe(hasMore)
})

function isPlain({ aheadMs, incidents }: Schedule): boolean {
  return aheadMs.length === 1 && incidents.every((incident) => incident.kind !== 'pinConfig' && !('keptMs' in incident))
}

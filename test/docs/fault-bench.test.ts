import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generateSchedule } from '../faults/generate.ts'

const page = readFileSync('docs/fault-bench.md', 'utf8')
const [, ...numbers] = /\*\*The storm\*\*: (\d+) to (\d+) minutes, in which something goes wrong (\d+) to (\d+) times\./.exec(page) ?? []
const [shortest, longest, fewest, most] = numbers.map(Number)
/** What the page says is drawn apart; leaders that are killed for their clocks are the only ones that other faults look like. */
const apart = /^(?:zoneOutage|taintPool|forge|copyAgent|swapDefinitions)/

it('docs/fault-bench.md says how long storms are, and how often something goes wrong in them', () => {
  const schedules = Array.from({ length: 2_000 }, (_, seed) => generateSchedule(seed)).filter(({ aheadMs }) => aheadMs.length === 1)
  const minutes = schedules.map(({ stormMs }) => stormMs / 60_000)
  expect([Math.floor(Math.min(...minutes)), Math.ceil(Math.max(...minutes))]).toEqual([shortest, longest])
  const counts = schedules.map(({ incidents }) => incidents.filter(({ kind }) => !apart.test(kind)).length)
  expect([Math.min(...counts), Math.max(...counts)]).toEqual([fewest, most])
  const hasMore = schedules.some(({ incidents }) => incidents.length > (most ?? 0))
  expect(/are drawn apart and come on top\./.test(page)).toBe(hasMore)
})

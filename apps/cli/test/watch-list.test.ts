import type { RolloutSummary } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { expect, it } from 'vitest'
import { watchList } from '../src/terminal/watch-list.ts'
import { done, inStepTwo, waitsForApproval } from './release-pictures.ts'

const gone = new AppError('ROLLOUT_NOT_FOUND', 'it is gone')
const options = { none: 'No Rollouts.', columns: { namespaces: true, wide: false } }

it('list -w writes a line for each Rollout that has changed, into a file or pipe', async () => {
  const { out } = await watch('text', [
    [named('a', inStepTwo), named('b', done)],
    [named('a', waitsForApproval), named('b', done)],
  ])
  const lines = out.trimEnd().split('\n')
  expect(lines.map((line) => line.split(/ {2}/, 2))).toEqual([
    ['demo/a', 'Running'],
    ['demo/b', 'Done'],
    ['demo/a', 'Waiting'],
  ])
})

it('list -w -o json writes a document for each Rollout that has changed', async () => {
  const { out } = await watch('json', [[named('a', done)], [named('a', done)], [named('a', inStepTwo)]])
  const documents = out.trimEnd().split('\n')
  expect(documents.map((line) => (JSON.parse(line) as RolloutSummary).outcome)).toEqual(['Done', 'Running'])
})

it('list -w -o json escapes control characters on a terminal, but not in a pipe', async () => {
  const name = 'a\u009b31m\u202e'
  const [terminal, pipe] = [await watch('json', [[named(name, done)]], { isTTY: true }), await watch('json', [[named(name, done)]])]
  expect(terminal.out.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect([terminal.out, pipe.out].map((text) => (JSON.parse(text) as RolloutSummary).name)).toEqual([name, name])
})

it('list -w redraws the table on a terminal, also without Rollouts', async () => {
  const { out } = await watch('text', [[], [named('a', inStepTwo)]], { isTTY: true, columns: 80, rows: 24 })
  expect(out).toContain('No Rollouts.')
  expect(out).toMatch(/NAMESPACE {2}NAME {2,}STATE/)
})

const away = new AppError('API_UNREACHABLE', 'the API server does not answer')

it('list -w reports each outage of the API server, with the time of the shown data', async () => {
  const rollouts = [named('a', done)]
  const { err } = await watch('text', [rollouts, away, away, rollouts, away])
  const lines = err.trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  for (const line of lines) expect(line).toMatch(/^API_UNREACHABLE: .* The data shown are from \S+Z\.$/)
})

it('list -w shows on a terminal since when its data are stale', async () => {
  const { out } = await watch('text', [[named('a', done)], away], { isTTY: true, columns: 80, rows: 24 })
  expect(out).toMatch(/stale since \S+Z: API_UNREACHABLE/)
})

function named(name: string, { report }: { readonly report: RolloutSummary }): RolloutSummary {
  return { ...report, name }
}

/** Looks at one list after the other, until there are no more. */
async function watch(
  format: 'text' | 'json',
  lists: readonly (readonly RolloutSummary[] | AppError)[],
  terminal: object = {},
): Promise<{ readonly out: string; readonly err: string }> {
  const clock = new FakeClock()
  const left = [...lists]
  let out = ''
  let err = ''
  const look = (): Promise<readonly RolloutSummary[]> => {
    const next = left.shift()
    return next === undefined ? Promise.reject(gone) : next instanceof AppError ? Promise.reject(next) : Promise.resolve(next)
  }
  const io = {
    out: { write: (text: string) => void (out += text), ...terminal },
    err: { write: (text: string) => void (err += text) },
    env: { LANG: 'C.UTF-8' },
  }
  const ended = expect(watchList({ clock } as never, { ...options, look, output: { format, colors: false } }, io)).rejects.toBe(gone)
  for (let round = 0; round < 8; round++) await clock.advanceAsync(5_000)
  await ended
  return { out, err }
}

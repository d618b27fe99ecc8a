import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { FollowEnd, ReleaseClient, SeenRelease } from '@tranche/release-client'
import { expect, it } from 'vitest'
import { followPatiently, isLate } from '../src/release-client/follow-patiently.ts'
import { followReleaseWithRetries } from '../src/release-client/follow-release.ts'

const key = { namespace: 'demo', name: 'agent' }
const away = new AppError('API_UNREACHABLE', 'no answer')

/** A release client whose watch yields these and then ends; a read yields `read`. */
function releaseClientOf(
  shown: readonly { readonly report: string; readonly trouble?: unknown }[],
  end: FollowEnd,
): Pick<ReleaseClient, never> {
  async function* follow(): AsyncGenerator<SeenRelease<'report'>, FollowEnd, undefined> {
    for (const { report, trouble } of shown) yield { value: report, trouble } as unknown as SeenRelease<'report'>
    return end
  }
  return { follow, report: async () => 'read' }
}

function followed(releaseClient: Pick<ReleaseClient, never>, reported: unknown[]): AsyncGenerator<unknown> {
  const session = { releaseClient: releaseClient as ReleaseClient, clock: new FakeClock() }
  const { signal } = new AbortController()
  return followReleaseWithRetries(session, { key, part: 'report', signal, trouble: (error) => void reported.push(error) })
}

it('yields the values of the watch, and reports its errors and their end', async () => {
  const reported: unknown[] = []
  const shown: unknown[] = []
  const releaseClient = releaseClientOf([{ report: 'one' }, { report: 'one', trouble: away }, { report: 'two' }], 'stopped')
  for await (const report of followed(releaseClient, reported)) shown.push(report)
  expect(shown).toEqual(['one', 'one', 'two'])
  expect(reported).toEqual([null, away, null])
})

it.each([
  ['who may not watch', releaseClientOf([], 'unwatchable')],
  ['a release client without a watch', { report: async () => 'read' }],
])('reads for %s', async (_who, releaseClient) => {
  const looks = followed(releaseClient, [])
  await expect(looks.next()).resolves.toEqual({ done: false, value: 'read' })
  await looks.return(undefined)
})

it('restarts if the first read times out', async () => {
  const late = new AppError('API_DEADLINE', 'it was not answered within 15000 ms')
  const reads = [late, late]
  const report = async (): Promise<string> => {
    const error = reads.pop()
    if (error !== undefined) throw error
    return 'read'
  }
  const clock = new FakeClock()
  const reported: unknown[] = []
  const { signal } = new AbortController()
  const trouble = (error: unknown): void => void reported.push(error)
  const patience = { clock, signal, mayPass: isLate, failed: trouble }
  const session = { releaseClient: { report } as unknown as ReleaseClient, clock }
  const looks = followPatiently(session, { key, part: 'report', signal, trouble, patience })
  const first = looks.next()
  await clock.advanceAsync(3_000)
  await expect(first).resolves.toEqual({ done: false, value: 'read' })
  expect(reported).toEqual([late, late, null])
  await looks.return(undefined)
})

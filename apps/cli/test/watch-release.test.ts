import type { CommandIo } from '@tranche/cli'
import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { FollowEnd, ReleaseClient, SeenRelease } from '@tranche/release-client'
import { expect, it } from 'vitest'
import { showReleaseScreen } from '../src/terminal/watch-release.ts'
import { terminal } from './fake-terminal.ts'
import { NOW_MS, waitsForApproval } from './release-pictures.ts'

const options = { key: { namespace: 'demo', name: 'node-agent' }, output: { format: 'text', colors: false } as const }
const away = new AppError('API_UNREACHABLE', 'the API server does not answer')
const STEP = /^step .*$/m

type Next = { readonly trouble?: unknown } | { readonly end: true }

/** A release client that yields the given pictures in order. */
function releaseClientOf() {
  const shown: Next[] = []
  let ring = (): void => {}
  async function* follow(): AsyncGenerator<SeenRelease<'picture'>, FollowEnd, undefined> {
    for (;;) {
      for (let next = shown.shift(); next !== undefined; next = shown.shift()) {
        if ('end' in next) return 'stopped'
        yield { value: waitsForApproval, ...next }
      }
      await new Promise<void>((done) => void (ring = done))
    }
  }
  const show = (next: Next): void => {
    shown.push(next)
    ring()
  }
  return { releaseClient: { follow } as unknown as ReleaseClient, show }
}

it('shows since when its data are stale, and freezes ages meanwhile', async () => {
  const clock = new FakeClock(NOW_MS)
  const { releaseClient, show } = releaseClientOf()
  const { stream, shown } = terminal()
  const io: CommandIo = { out: stream, err: { write: () => {} }, env: {} }
  const ended = showReleaseScreen({ releaseClient, clock }, options, io)
  const text = (): string => shown().join('\n')
  show({})
  await clock.advanceAsync(5_000)
  expect(text()).toMatch(/StepPaused for 1m10s/)
  show({})
  await clock.advanceAsync(0)
  show({ trouble: away })
  await clock.advanceAsync(35_000)
  expect(STEP.exec(text())?.[0]).toBe('step    1 of 3, StepPaused for 1m10s')
  expect(text()).toContain('stale since 2026-03-04T12:00:05.000Z, for 35s: API_UNREACHABLE')
  show({})
  await clock.advanceAsync(0)
  expect(STEP.exec(text())?.[0]).toBe('step    1 of 3, StepPaused for 1m45s')
  expect(text()).not.toContain('stale')
  show({ end: true })
  await expect(ended).resolves.toBe(0)
})

it('writes the same once into a file', async () => {
  const clock = new FakeClock(NOW_MS)
  const { releaseClient, show } = releaseClientOf()
  let err = ''
  const io: CommandIo = { out: { write: () => {} }, err: { write: (line: string) => void (err += line) }, env: {} }
  const ended = showReleaseScreen({ releaseClient, clock }, options, io)
  show({})
  await clock.advanceAsync(0)
  for (let looks = 0; looks < 3; looks++) {
    show({ trouble: away })
    await clock.advanceAsync(5_000)
  }
  show({ end: true })
  await ended
  expect(err).toBe('API_UNREACHABLE: the API server does not answer. The data shown are from 2026-03-04T12:00:00.000Z.\n')
})

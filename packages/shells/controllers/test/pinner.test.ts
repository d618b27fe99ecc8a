import { FakeClock } from '@tranche/clock'
import type { RolloutView } from '@tranche/planner'
import { silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'
import { FakeCluster } from '../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../test/fakes/settle.ts'
import { createPinner } from '../src/pins/pinner.ts'
import type { PinPort } from '../src/pins/pin-port.ts'

const PINS = { pins: { versions: () => null } as unknown as PinPort, podPolicy: { fault: () => undefined } }

it('an attempt without an answer keeps a pass waiting for ten seconds, and holds the release from then on, so that an abort is carried out (G9)', async () => {
  const clock = new FakeClock()
  const fake = new FakeCluster()
  settle(fake)
  const view = (): RolloutView => ({ ...fake.rolloutView()!, monotonicMs: clock.monotonicMs() })
  const unanswered = { versions: () => 'any', read: () => new Promise(() => {}) } as unknown as PinPort
  const pinner = createPinner({ pins: unanswered }, clock)
  const attempt = pinner.attempt(view(), new AbortController().signal, silentLogger)
  clock.advance(1_000)
  expect(await attempt).toMatchObject({ kind: 'pending' })
  clock.advance(8_999)
  expect(pinner.known(view())).toBeNull()
  clock.advance(1)
  expect(pinner.known(view())).toMatchObject({ kind: 'held', reason: 'NoAnswer', recheckAfterMs: 1_000 })
})

it('a question about the policy for pods without an answer does the same', () => {
  const clock = new FakeClock()
  const fake = new FakeCluster()
  settle(fake)
  const view = (): RolloutView => ({ ...readsConfig(fake.rolloutView()!), monotonicMs: clock.monotonicMs() })
  const pinner = createPinner({ pins: {} as PinPort, podPolicy: { fault: () => undefined } }, clock)
  expect(pinner.known(view())).toMatchObject({ kind: 'pending' })
  clock.advance(9_999)
  expect(pinner.known(view())).toMatchObject({ kind: 'pending' })
  clock.advance(1)
  expect(pinner.known(view())).toMatchObject({ kind: 'held', reason: 'NoAnswer', recheckAfterMs: 1_000 })
})

it.each([
  ['ConfigMaps, on an installation without pins', { configMap: { name: 'agent' } }, {}, 'held'],
  ['Secrets, on an installation without pins', { secret: { secretName: 'agent' } }, {}, 'held'],
  ['ConfigMaps, while no answer came', { configMap: { name: 'agent' } }, PINS, 'pending'],
  ['Secrets, in a namespace whose Secrets are not pinned', { secret: { secretName: 'agent' } }, PINS, undefined],
])('config: Pin of a DaemonSet that reads %s', (_what, source, ports, kind) => {
  const fake = new FakeCluster()
  settle(fake)
  const view: RolloutView = { ...readsConfig(fake.rolloutView()!, source), pinsSecrets: false }
  expect(createPinner(ports, new FakeClock()).known(view)?.kind).toBe(kind)
})

function readsConfig(view: RolloutView, source: object = { configMap: { name: 'agent' } }): RolloutView {
  const { daemonSet } = view
  if (daemonSet === undefined) throw new Error('no DaemonSet')
  const { template } = daemonSet.spec
  const volumes = [{ name: 'config', ...source }]
  return {
    ...view,
    daemonSet: { ...daemonSet, spec: { ...daemonSet.spec, template: { ...template, spec: { ...template.spec, volumes } as never } } },
  }
}

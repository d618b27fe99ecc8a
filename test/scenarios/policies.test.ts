import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { unavailableSeen } from '@tranche/recording'
import { deletions, expectKept } from './expect-kept.ts'
import { events } from './hands.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { applyPolicy, applyRefusedPolicy, deletePolicy, policyOf } from './policies.ts'
import { goesBy, stageKey } from './stage-objects.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]

describe.each([
  {
    what: 'is deleted',
    reason: 'PolicyNotFound',
    text: 'the annotation tranche.dev/release-policy is "careful": there is no such ReleasePolicy in namespace demo',
    spoil: () => deletePolicy(stage),
  },
  {
    what: 'becomes invalid',
    reason: 'PolicyInvalid',
    text: 'ReleasePolicy careful: spec.soak.step is "soon"',
    spoil: () => applyRefusedPolicy(stage, { maxUnavailable: 2, soak: { step: 'soon' } }),
  },
])('a release whose policy $what', ({ reason, text, spoil }) => {
  it('stops, reports why, and continues by itself when the policy is valid again', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 1, steps, policy: { maxUnavailable: 2 } })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    await spoil()
    await untilStalled(reason)
    expect((await condition(stage, 'Stalled'))?.message).toContain(text)
    const { status } = await stage.rollout()
    expect(status?.message).toContain(text)
    expect(status?.policy).toEqual({ name: 'careful', message: expect.stringContaining(text) })

    await untilStopped()
    const deleted = deletions(stage)
    expect((await stage.release())?.status?.waiting).toMatchObject({ reason, message: expect.stringContaining(text) })
    await stage.pass(120_000)
    expect(deletions(stage)).toBe(deleted)
    expect((await events(stage)).filter((event) => event.reason === reason)).toHaveLength(1)

    await applyPolicy(stage, { maxUnavailable: 2 })
    await untilPausedAt(stage, 1)
    expect((await condition(stage, 'Stalled'))?.status).toBe('False')
    await stage.approve()
    await untilReleased(stage, 'v2')
  })

  it('can be aborted: the stable template is put back, and no pod is deleted before the policy can be used (G9)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 1, steps, policy: { maxUnavailable: 2 } })
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    await spoil()
    await untilStalled(reason)
    await untilStopped()
    await stage.pass(60_000)
    const deleted = deletions(stage)
    const updated = await nodesOn(stage, 'v2')
    const action = JSON.stringify({ id: 'stop', type: 'abort', expectedStep: 1 })
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': action } } })
    await stage.until('the abort is answered', async () => (await stage.rollout()).status?.lastAction?.id === 'stop', 10_000)
    expect((await stage.rollout()).status?.lastAction).toMatchObject({ type: 'abort', result: 'Accepted' })
    await stage.until('the template is back', async () => JSON.stringify((await stage.daemonSet()).spec.template).includes(':v1"'), 10_000)
    await stage.pass(120_000)
    expect(deletions(stage)).toBe(deleted)
    expect(await nodesOn(stage, 'v2')).toEqual(updated)
    expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'True', reason, message: expect.stringContaining(text) })
    const { status } = await stage.rollout()
    expect([status?.phase, status?.heldRevisions?.length]).toEqual(['Progressing', 1])
    expect(status?.message).toMatch(/^revision \w+ was rolled back; no pod is deleted until the policy can be used: /)
    expect((await events(stage)).filter((event) => event.reason === reason)).toHaveLength(1)

    await applyPolicy(stage, { maxUnavailable: 1 })
    await untilReleased(stage, 'v1')
    expect((await condition(stage, 'Stalled'))?.status).toBe('False')
    expect(await condition(stage, 'Succeeded')).toMatchObject({ status: 'False' })
    expect(deletions(stage) - deleted).toBe(updated.length)
    expect(unavailable(sinceMs)).toBeLessThanOrEqual(2)
    expectKept(stage)
  })

  it('does not start with a new template until then, with any admission', async () => {
    stage = await setStage({ nodes: 4, steps, policy: {} })
    await spoil()
    await untilStalled(reason)
    await stage.setImage('v2')
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    await applyPolicy(stage, {})
    await untilPausedAt(stage, 1)
  })

  it('and that has left only a dead node ends when policy and node are back (G6)', async () => {
    stage = await setStage({ nodes: 4, maxUnavailable: 2, steps: [{ replicas: '100%' }], policy: {}, admission: 'inProcess' })
    await drive(stage.clock, stage.simulator.nodes.kill('node-003'))
    await stage.pass(60_000)
    await stage.setImage('v2')
    await stage.until('a node is left behind', async () => (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft')
    await spoil()
    await untilStalled(reason)
    await untilStopped()
    await drive(stage.clock, stage.simulator.nodes.revive('node-003'))
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(3)

    await applyPolicy(stage, {})
    await untilReleased(stage, 'v2')
    await stage.until('the release is deleted', async () => (await stage.release()) === undefined)
    expect((await stage.daemonSet()).spec.updateStrategy?.type).toBe('RollingUpdate')
    expect((await stage.daemonSet()).metadata.annotations).not.toHaveProperty([daemonSetAnnotations.controlInfo])
    expectKept(stage)
  })
})

it('a Rollout whose policy never existed is bound nevertheless, so Kubernetes does not release its template', async () => {
  stage = await setStage({ nodes: 4, steps })
  await stage.patchRollout({ metadata: { annotations: goesBy('careful') } })
  await untilStalled('PolicyNotFound')
  await stage.setImage('v2')
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v2')).toEqual([])
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/release-policy': null } } })
  await untilPausedAt(stage, 1)
  expect((await stage.rollout()).status?.policy).toBeUndefined()
})

it('a Rollout whose policy is deleted can still be deleted in mid-release', async () => {
  stage = await setStage({ nodes: 6, maxUnavailable: 1, steps, policy: {} })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 1)
  await deletePolicy(stage)
  await untilStalled('PolicyNotFound')
  await stage.client.delete(resourcePaths.rollouts, stageKey)
  await stage.until('it is gone', async () => (await stage.client.list(resourcePaths.rollouts, {})).items.length === 0)
  expect((await stage.daemonSet()).metadata.annotations).toHaveProperty('tranche.dev/frozen')
})

it('an override of maxUnavailable counts from the next decision: raised and lowered in mid-release', async () => {
  stage = await setStage({ nodes: 24, maxUnavailable: 5, steps: [{ replicas: '100%' }], policy: { maxUnavailable: 1 } })
  const sinceMs = stage.clock.nowMs()
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 4)
  expect(unavailable(sinceMs)).toBe(1)
  await applyPolicy(stage, { maxUnavailable: '12%' })
  await untilNodesOn(stage, 'v2', 10)
  expect(unavailable(sinceMs)).toBe(3)
  await applyPolicy(stage, { maxUnavailable: 1 })
  await stage.until('the limit is lowered', async () => (await stage.release())?.status?.flight?.limit === 1)
  await stage.pass(4_000)
  const loweredMs = stage.clock.nowMs()
  await untilReleased(stage, 'v2')
  expect(unavailable(loweredMs)).toBe(1)
  expect((await stage.rollout()).status?.policy).toEqual({ name: 'careful', generation: 3 })
})

it('a policy reports whether it is valid, with every problem, and which Rollouts use it', async () => {
  stage = await setStage({ nodes: 2, steps, policy: {} })
  await stage.until('the policy is reported', async () => (await policyOf(stage)).status?.rolloutCount === 1)
  expect((await policyOf(stage)).status).toMatchObject({
    observedGeneration: 1,
    conditions: [
      { type: 'Valid', status: 'True', observedGeneration: 1, reason: 'Valid', message: '' },
      { type: 'Usable', status: 'True', observedGeneration: 1, reason: 'Usable', message: '' },
    ],
    failureAction: 'Pause',
    rollouts: ['node-agent'],
    rolloutCount: 1,
  })
  await applyRefusedPolicy(stage, { maxUnavailable: 0, soak: { step: 'soon', final: '25h' } })
  await stage.until('it is invalid', async () => (await policyOf(stage)).status?.conditions?.[0]?.status === 'False')
  const { message } = (await policyOf(stage)).status?.conditions?.[0] ?? {}
  for (const path of ['spec.maxUnavailable is 0', 'spec.soak.step is "soon"', 'spec.soak.final is "25h"']) expect(message).toContain(path)
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/release-policy': null } } })
  await stage.until('no Rollout uses it', async () => (await policyOf(stage)).status?.rolloutCount === 0)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const written = stage.recording().filter(({ kind, actor }) => kind === 'ReleasePolicy' && actor === 'controller-1')
  expect(written).toHaveLength(3)
})

it('a policy and its Rollouts report what cannot be used, and the release continues', async () => {
  const hook = { name: 'pager', webhook: { url: 'https://pager.example.com/hook', hmac: { name: 'pager', key: 'hmac' } } }
  stage = await setStage({ nodes: 4, steps, policy: { notify: [hook] } })
  const secret = 'spec.notify[0].webhook.hmac is {"name":"pager","key":"hmac"}: there is no Secret pager in namespace demo; create it'
  const host = 'spec.notify[0].webhook.url is "https://pager.example.com/hook": pager.example.com is not an allowed host'
  await untilUsable('False')
  expect(await usability()).toMatchObject({ reason: 'SecretUnusable', message: expect.stringContaining(secret) })
  expect((await usability())?.message).toContain(host)
  expect((await policyOf(stage)).status?.conditions?.[0]).toMatchObject({ type: 'Valid', status: 'True' })
  await stage.until('the Rollout reports it', async () => (await stage.rollout()).status?.policy?.message?.includes(secret) === true)
  expect((await events(stage)).filter(({ reason }) => reason === 'PolicyUnusable')).toHaveLength(1)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)

  const labels = { 'tranche.dev/policy-secret': 'true' }
  const policySecret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'pager', namespace: 'demo', labels },
    stringData: { hmac: 'x' },
  }
  await stage.client.create(resourcePaths.secrets, policySecret as never)
  await stage.until('the Secret is found', async () => (await usability())?.reason === 'HostNotAllowed', 40_000)
  expect((await usability())?.message).not.toContain('Secret')
  await applyPolicy(stage, {})
  await untilUsable('True')
  await stage.until('the Rollout no longer reports it', async () => (await stage.rollout()).status?.policy?.message === undefined)
  expect((await stage.rollout()).status?.policy).toEqual({ name: 'careful', generation: 2 })
})

async function usability(): Promise<{ readonly status: string; readonly reason: string; readonly message: string } | undefined> {
  return (await policyOf(stage)).status?.conditions?.find(({ type }) => type === 'Usable')
}

async function untilUsable(status: string): Promise<void> {
  await stage.until(`usable is ${status}`, async () => (await usability())?.status === status)
}

async function untilStalled(reason: string): Promise<void> {
  await stage.until(`it is stalled: ${reason}`, async () => (await condition(stage, 'Stalled'))?.reason === reason)
}

async function untilStopped(): Promise<void> {
  await stage.until('the record is stopped', async () => (await stage.release())?.status?.flight?.state === 'stopped')
  await stage.until(
    'and the reason is reported',
    async () => (await stage.release())?.status?.waiting?.reason.startsWith('Policy') === true,
  )
}

function unavailable(sinceMs: number): number {
  return unavailableSeen(stage.recording(), { namespace: 'demo', daemonSet: 'node-agent', sinceMs }).max
}

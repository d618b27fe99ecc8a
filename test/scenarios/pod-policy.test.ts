import { isNotFound, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { KubeObject, Pod } from '@tranche/kube-types'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { enforcePins } from './admission.ts'
import { nodesOn, untilPausedAt } from './looks.ts'
import { contents, copies, setPinnedStage, stalled, untilContents, write } from './pinned-stage.ts'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const group = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false }
const POLICY: ResourcePath = { ...group, plural: 'mutatingadmissionpolicies' }
const BINDING: ResourcePath = { ...group, plural: 'mutatingadmissionpolicybindings' }

describe('a release of pinned config', () => {
  it('holds and changes no template before the API server has the policy for pods, and begins with it', async () => {
    stage = await setPinnedStage({ podPolicy: false, config: '1' })
    await untilHeld('there is no MutatingAdmissionPolicy pods')
    await stage.setImage('v2')
    await stage.pass(120_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    expect(await copies(stage)).toEqual([])
    expect(await usable()).toMatchObject({ status: 'False', reason: 'PodPolicyMissing' })

    await enforcePins(stage.simulator)
    await untilPausedAt(stage, 1)
    expect(await contents(stage)).toEqual(['1', 'live', 'live', 'live', 'live'])
    expect(await usable()).toMatchObject({ status: 'True' })
  })

  it.each<[sentence: string, lift: () => Promise<unknown>, said: string]>([
    ['the policy is deleted', () => remove(POLICY), 'there is no MutatingAdmissionPolicy pods'],
    ['its binding is deleted', () => remove(BINDING), 'there is no MutatingAdmissionPolicyBinding pods'],
    [
      'the policy ignores its failures',
      () => patch(POLICY, { failurePolicy: 'Ignore' }),
      'spec.failurePolicy of the MutatingAdmissionPolicy pods is not that of this version',
    ],
    [
      'the policy leaves out some pods',
      () => patch(POLICY, { matchConditions: [{ name: 'none', expression: 'false' }] }),
      'spec.matchConditions of the MutatingAdmissionPolicy pods',
    ],
    [
      'the binding leaves out the namespace',
      () => patch(BINDING, { matchResources: namespaces('In', 'other') }),
      'leaves out namespace demo',
    ],
  ])('updates no other node from the moment that %s, and continues as soon as it is as it was', async (_sentence, lift, said) => {
    stage = await setPinnedStage({ config: '1' })
    await untilPausedAt(stage, 1)
    await lift()
    await untilHeld(said)
    await stage.approve()
    await stage.pass(300_000)
    expect(await contents(stage)).toEqual(['1', 'live', 'live', 'live', 'live'])

    await restore()
    await stage.until('it is approved again, if it must be', async () => {
      const { currentStepState } = (await stage.rollout()).status?.canaryStatus ?? {}
      if (currentStepState === 'StepPaused') await stage.approve()
      return (await contents(stage)).every((one) => one === '1')
    })
    await untilContents(stage, ['1', '1', '1', '1', '1'])
  })
})

describe('a policy for pods that cannot be read', () => {
  it.each<[sentence: string, status: number, reason: string, said: string]>([
    ['the API server does not serve it', 404, 'NotFound', 'the API server does not serve mutatingadmissionpolicies in version v1'],
    ['the controller may not list it', 403, 'Forbidden', 'the controller may not list mutatingadmissionpolicies'],
  ])('holds the release where %s', async (_sentence, status, reason, said) => {
    let isRefused = true
    stage = await setPinnedStage({
      config: '1',
      faults: {
        onRequest: ({ actor, resource }) =>
          isRefused && actor.startsWith('controller') && resource.resource === 'mutatingadmissionpolicies'
            ? { kind: 'error', error: new ApiStatusError(status, reason, 'no', {}) }
            : undefined,
      },
    })
    await untilHeld(said)
    await stage.pass(60_000)
    expect(await copies(stage)).toEqual([])
    isRefused = false
    await untilPausedAt(stage, 1)
  })
})

describe('pods that read config itself, although the watch shows the policy as it should be', () => {
  it('hold the release, until they are deleted', async () => {
    stage = await setPinnedStage({ config: '1', maxUnavailable: 1 })
    await untilPausedAt(stage, 1)
    await removeUnseen()
    await stage.approve()
    await untilHeld('read ConfigMap agent itself and no copy, on node-')
    await stage.pass(120_000)
    expect(await contents(stage)).toEqual(['1', 'live', 'live', 'live', 'live'])

    await restore()
    await stage.pass(60_000)
    expect(await contents(stage)).toEqual(['1', 'live', 'live', 'live', 'live'])
    for (const pod of await pinnedPods()) await stage.client.delete(resourcePaths.pods, keyOf(pod))
    await untilContents(stage, ['1', '1', '1', '1', '1'])
  })

  it('are replaced in batches by a restart, once the policy is back', async () => {
    stage = await setPinnedStage({ config: '1', maxUnavailable: 1 })
    await untilPausedAt(stage, 1)
    await removeUnseen()
    await stage.approve()
    await untilHeld('kubectl rollout restart daemonset/node-agent')
    await restore()
    await stage.patchDaemonSet({ spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } } })
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilContents(stage, ['1', '1', '1', '1', '1'])
  })

  it('hold no rollback, which replaces them', async () => {
    stage = await setPinnedStage()
    await removeUnseen()
    await write(stage, '1')
    await untilHeld('read ConfigMap agent itself and no copy, on node-')
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
    await stage.until('no pod of the release is left', async () => (await pinnedPods()).length === 0)
    await stage.until('it is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
  })
})

/** Deletes the policy so that controllers do not learn it. */
async function removeUnseen(): Promise<void> {
  stage.disturb({
    onEvent: ({ actor, resource }) =>
      actor.startsWith('controller') && resource.resource === POLICY.plural ? { kind: 'delay', ms: 200_000 } : undefined,
  })
  await remove(POLICY)
}

async function pinnedPods(): Promise<readonly Pod[]> {
  return (await stage.pods()).filter(({ metadata }) => metadata.annotations?.['tranche.dev/pinned-config'] !== undefined)
}

async function untilHeld(said: string): Promise<void> {
  await stage.until('it is held', async () => {
    const { status, reason, message = '' } = (await stalled(stage)) ?? {}
    return status === 'True' && reason === 'ConfigUnpinned' && message.includes(said) && message.includes('helm upgrade')
  })
}

async function usable(): Promise<unknown> {
  const { items } = await stage.client.list<KubeObject>(resourcePaths.releasePolicies, { namespace: stageKey.namespace })
  const { status } = items[0] as unknown as { readonly status?: { readonly conditions?: readonly { readonly type: string }[] } }
  return status?.conditions?.find(({ type }) => type === 'Usable')
}

const named = { namespace: '', name: 'pods' }

async function remove(path: ResourcePath): Promise<void> {
  await stage.client.delete(path, named).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}

function patch(path: ResourcePath, spec: object): Promise<unknown> {
  return stage.client.patch(path, named, { type: 'merge', body: { spec } })
}

async function restore(): Promise<void> {
  await remove(POLICY)
  await remove(BINDING)
  await enforcePins(stage.simulator)
}

function namespaces(operator: string, name: string): object {
  return { namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator, values: [name] }] } }
}

function keyOf({ metadata }: Pod): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name }
}

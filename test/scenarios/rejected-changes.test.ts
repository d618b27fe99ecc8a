import { afterEach, describe, expect, it } from 'vitest'
import { events } from './hands.ts'
import { condition, untilNodesOn, untilPausedAt } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '25%', pause: {} }, { replicas: '100%' }]
const group = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const

/** A rule of the cluster that came after v1 was released: it rejects the template of v1. */
async function forbidV1(): Promise<void> {
  await stage.client.create({ ...group, plural: 'validatingadmissionpolicies' }, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'no-v1' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['daemonsets'] }],
      },
      validations: [
        { expression: "!object.spec.template.spec.containers[0].image.endsWith(':v1')", message: 'images with the tag v1 are forbidden' },
      ],
    },
  } as never)
  await stage.client.create({ ...group, plural: 'validatingadmissionpolicybindings' }, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'no-v1' },
    spec: { policyName: 'no-v1', validationActions: ['Deny'] },
  } as never)
  await stage.pass(1_000)
}

async function withdrawRule(): Promise<void> {
  await stage.client.delete({ ...group, plural: 'validatingadmissionpolicybindings' }, { name: 'no-v1' } as never)
  await stage.pass(1_000)
}

async function expectSaid(): Promise<void> {
  await stage.pass(3_600_000)
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'True', reason: 'ChangeRejected' })
  expect((await stage.rollout()).status?.message).toMatch(
    /puts the template of revision .* back: .*tag v1 are forbidden.*; change the rule/,
  )
  expect((await events(stage)).filter(({ reason }) => reason === 'ChangeRejected')).toHaveLength(1)
}

/** It goes on trying, and the stall ends with the first patch that succeeds. */
async function expectGoesOn(): Promise<void> {
  await withdrawRule()
  await stage.pass(1_200_000)
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False', reason: 'NotStalled' })
  expect((await stage.rollout()).status).toMatchObject({ phase: 'Healthy' })
  await untilNodesOn(stage, 'v1', 8)
}

describe('a rollback whose template the API server rejects says so, and goes on once the rule is gone:', () => {
  it('after a failure', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps, policy: { failure: { action: 'Rollback' } } })
    await stage.setImage('v2-bad-crash')
    await forbidV1()
    await untilNodesOn(stage, 'v2-bad-crash', 2)
    await expectSaid()
    await expectGoesOn()
  }, 60_000)

  it('after an abort', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await forbidV1()
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"stop","type":"abort","expectedStep":1}' } } })
    await expectSaid()
    await expectGoesOn()
  }, 60_000)
})

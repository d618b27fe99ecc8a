import { definitionsPolicy } from '@tranche/admission'
import { customResourceDefinitions } from '@tranche/api-schema'
import { KubeStatusError, resourcePaths } from '@tranche/kube-client'
import { ALLOW_DELETE_ANNOTATION } from '@tranche/kube-types'
import type { WireResponse } from '@tranche/wire'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { policyIds } from './admission.ts'

let stage: Stage
afterEach(() => stage.end())

const names = customResourceDefinitions.map(({ metadata }) => metadata.name)

describe('a chart of OpenKruise that is uninstalled with its definitions', () => {
  it('deletes no definition while the policy of the chart protects them, and the release continues', async () => {
    await beginRelease()
    await protect()
    for (const name of names) {
      const attempt = drive(stage.clock, deleteDefinition(name))
      await expect(attempt).rejects.toThrow(KubeStatusError)
      await expect(attempt).rejects.toThrow(`kubectl annotate crd ${name} ${ALLOW_DELETE_ANNOTATION}=true`)
    }
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('deletes no definition by a request for all of them either', async () => {
    await beginRelease()
    await protect()
    expect(await drive(stage.clock, deleteAllDefinitions())).toMatchObject({ status: 403 })
    for (const name of names) await drive(stage.clock, stage.client.get(resourcePaths.customResourceDefinitions, { namespace: '', name }))
  })

  it('ends every release if nothing protects them: nodes stay as they are, and no pod is deleted', async () => {
    await beginRelease()
    for (const name of names) await drive(stage.clock, deleteDefinition(name))
    await stage.pass(60_000)
    const before = await nodesOn(stage, 'v2')
    expect(before).toHaveLength(2)
    await stage.pass(10 * 60_000)
    expect(await nodesOn(stage, 'v2')).toEqual(before)
    expect((await stage.daemonSet()).spec.updateStrategy?.type).toBe('OnDelete')
  })

  it('deletes definitions that are annotated for it', async () => {
    await beginRelease()
    await protect()
    const body = { metadata: { annotations: { [ALLOW_DELETE_ANNOTATION]: 'true' } } }
    for (const name of names) {
      await drive(
        stage.clock,
        stage.client.patch(resourcePaths.customResourceDefinitions, { namespace: '', name }, { type: 'merge', body }),
      )
      await drive(stage.clock, deleteDefinition(name))
    }
  })
})

async function beginRelease(): Promise<void> {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: 2, pause: {} }, { replicas: '100%' }] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await untilNodesOn(stage, 'v2', 2)
}

async function protect(): Promise<void> {
  const client = stage.simulator.clientFor({ name: 'helm' })
  for (const policy of definitionsPolicy) await drive(stage.clock, client.create(policyIds[policy.kind]!, policy))
}

function deleteAllDefinitions(): Promise<WireResponse> {
  const request = { method: 'DELETE', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', headers: {}, body: '' }
  return stage.simulator.exchangeFor('admin')(request, new AbortController().signal)
}

function deleteDefinition(name: string): Promise<unknown> {
  return stage.client.delete(resourcePaths.customResourceDefinitions, { namespace: '', name })
}

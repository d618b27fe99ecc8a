import { actionTypes, type Permissions, permissionsSchema } from '@tranche/api-schema'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { aSummary, type ApiStage, readsOf, startTestApi } from './fixtures.ts'

let stage: ApiStage

beforeEach(async () => {
  stage = await startTestApi(readsOf([aSummary({ daemonSet: 'node-agent' }), aSummary({ name: 'logs' })]))
})
afterEach(() => stage.end())

describe('the permissions on a Rollout', () => {
  it.each<{ title: string; grants: readonly Parameters<ApiStage['grant']>[2][]; may: readonly string[]; template: boolean }>([
    { title: 'are none for a user who only reads', grants: [], may: [], template: false },
    { title: 'contain the granted verbs', grants: [{ verbs: ['pause', 'approve'] }], may: ['pause', 'approve'], template: false },
    {
      title: 'contain a verb for this Rollout by name',
      grants: [{ verbs: ['abort'], resourceNames: ['agent'] }],
      may: ['abort'],
      template: false,
    },
    {
      title: 'do not contain a verb for another Rollout',
      grants: [{ verbs: ['abort'], resourceNames: ['logs'] }],
      may: [],
      template: false,
    },
    { title: 'contain every action for a wildcard', grants: [{ verbs: ['*'] }], may: actionTypes, template: false },
    {
      title: 'contain pod templates with the right to get the DaemonSet of the Rollout',
      grants: [{ verbs: ['get'], apiGroups: ['apps'], resources: ['daemonsets'], resourceNames: ['node-agent'] }],
      may: [],
      template: true,
    },
    {
      title: 'do not contain pod templates with the right to get a DaemonSet with the name of the Rollout',
      grants: [{ verbs: ['get'], apiGroups: ['apps'], resources: ['daemonsets'], resourceNames: ['agent'] }],
      may: [],
      template: false,
    },
  ])('$title', async ({ grants, may, template }) => {
    await stage.grant('viewer', 'demo', { verbs: ['get'] })
    for (const rule of grants) await stage.grant('viewer', 'demo', rule)
    const { items, template: found } = await permissionsOf('viewer')
    expect(items.map(({ action }) => action)).toEqual(actionTypes)
    expect(items.filter(({ allowed }) => allowed).map(({ action }) => action)).toEqual(may)
    expect(found).toBe(template)
  })

  it('name the right for an action, as a refusal of the action does', async () => {
    await stage.grant('viewer', 'demo', { verbs: ['get'] })
    const permission = 'approve rollouts.rollouts.kruise.io "agent" in namespace "demo"'
    expect((await permissionsOf('viewer')).items).toContainEqual({ action: 'approve', allowed: false, permission })
    const url = '/api/v1/namespaces/demo/rollouts/agent/actions/approve'
    const refused = await stage.app.inject({ method: 'POST', url, headers: stage.as('viewer'), payload: { expectedStep: 1 } })
    expect(refused.json()).toMatchObject({ code: 'ACCESS_DENIED', detail: expect.stringContaining(`may not ${permission}`) })
  })

  it('are refused to a user who may not get the Rollout, even with a right to act on it', async () => {
    await stage.grant('viewer', 'demo', { verbs: ['approve'] })
    expect((await ask('viewer')).json()).toMatchObject({ code: 'ACCESS_DENIED' })
  })

  it('are not answered for a Rollout that does not exist', async () => {
    expect((await ask('admin', 'absent')).json()).toMatchObject({ code: 'ROLLOUT_NOT_FOUND' })
  })

  it('change ten seconds after a grant, at the latest', async () => {
    await stage.grant('viewer', 'demo', { verbs: ['get'] })
    expect(allowedIn(await permissionsOf('viewer'))).toEqual([])
    await stage.grant('viewer', 'demo', { verbs: ['retry'] })
    stage.clock.advance(10_001)
    expect(allowedIn(await permissionsOf('viewer'))).toEqual(['retry'])
  })
})

function allowedIn({ items }: Permissions): readonly string[] {
  return items.filter(({ allowed }) => allowed).map(({ action }) => action)
}

async function permissionsOf(user: string): Promise<Permissions> {
  const answer = await ask(user)
  return permissionsSchema.parse(answer.json())
}

function ask(user: string, name = 'agent') {
  return stage.app.inject({ method: 'GET', url: `/api/v1/namespaces/demo/rollouts/${name}/permissions`, headers: stage.as(user) })
}

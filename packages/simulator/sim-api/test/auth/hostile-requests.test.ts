import { describe, expect, it } from 'vitest'
import { jane, rule, setUp } from './testing.ts'

type Front = ReturnType<typeof setUp>['front']

const MAPS = '/api/v1/namespaces/default/configmaps'
const PODS = '/api/v1/namespaces/default/pods'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

describe('a user who may watch but not list', () => {
  const lists = ['', '?watch=false', '?watch=FALSE', '?watch=0']
  it.each(lists)('gets no list by %s', async (query) => {
    expect(await (await watcher())(`GET ${MAPS}${query}`)).toBe(403)
  })

  const watches = ['?watch', '?watch=', '?watch=1', '?watch=true', '?watch=no', '?watch=anything']
  it.each(watches)('gets a watch by %s: every value but false and 0 requests one', async (query) => {
    expect(await (await watcher())(`GET ${MAPS}${query}`)).toBe('watch')
  })

  it('reads no subresource with the parameter watch', async () => {
    expect(await (await watcher())(`GET ${PODS}/a/status?watch=1`)).toBe(403)
  })

  async function watcher(): Promise<(line: string) => Promise<number | 'watch'>> {
    const { front, grant } = setUp()
    await grant('watcher', [rule('configmaps pods pods/status', 'watch')], [jane])
    return async (line) => {
      const [method = '', path = ''] = line.split(' ')
      const answer = await front.handle({ method, path, headers: { authorization: 'Bearer jane' } }, new AbortController().signal)
      return answer.headers['content-length'] === undefined ? 'watch' : answer.status
    }
  }
})

describe('a definition of custom resources', () => {
  const refused: Record<string, { name: string; group: string; field: string }> = {
    'in a group without a dot': { name: 'daemonsets.apps', group: 'apps', field: 'spec.group' },
    'in a group of the project itself': {
      name: 'clusterroles.rbac.authorization.k8s.io',
      group: 'rbac.authorization.k8s.io',
      field: 'metadata.annotations[api-approved.kubernetes.io]',
    },
  }
  it.each(Object.entries(refused))('%s is refused', async (_name, { name, group, field }) => {
    const { status, json } = await setUp().send('root', `POST ${DEFINITIONS}`, aDefinition(name, group))
    expect({ status, fields: json.details?.causes?.map((cause) => cause.field) }).toEqual({ status: 422, fields: [field] })
  })

  it('removes no built-in resource, neither while it exists nor when it is deleted', async () => {
    const { send } = setUp()
    const name = 'customresourcedefinitions.apiextensions.k8s.io'
    const approved = { annotations: { 'api-approved.kubernetes.io': 'unapproved' } }
    const hostile = aDefinition(name, 'apiextensions.k8s.io', approved)
    expect((await send('root', `POST ${DEFINITIONS}`, hostile)).status).toBe(201)
    expect((await send('root', `GET ${DEFINITIONS}`)).json.kind).toBe('CustomResourceDefinitionList')
    expect((await send('root', `DELETE ${DEFINITIONS}/${name}`)).status).toBe(200)
    expect((await send('root', `GET ${DEFINITIONS}`)).json).toMatchObject({ kind: 'CustomResourceDefinitionList', items: [] })
  })
})

describe('a grace period', () => {
  it.each(['5', 1.5, {}, 1e18])('of %j is refused, and the pod stays', async (gracePeriodSeconds) => {
    const { send } = setUp()
    const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'agent:1' }] }
    await send('root', `POST ${PODS}`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec })
    const { status, json } = await send('root', `DELETE ${PODS}/a`, { gracePeriodSeconds })
    expect({ status, message: json.message }).toEqual({ status: 400, message: expect.stringContaining('gracePeriodSeconds') })
    expect((await send('root', `GET ${PODS}/a`)).json.metadata.deletionTimestamp).toBeUndefined()
  })
})

it('a pod with an excessive grace period can be deleted', async () => {
  const { send } = setUp()
  const spec = { nodeName: 'node-1', terminationGracePeriodSeconds: 9e15, containers: [{ name: 'main', image: 'agent:1' }] }
  await send('root', `POST ${PODS}`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec })
  expect((await send('root', `DELETE ${PODS}/a`)).status).toBe(200)
  expect((await send('root', `DELETE ${PODS}/a`, { gracePeriodSeconds: 0 })).status).toBe(200)
  expect((await send('root', `GET ${PODS}/a`)).status).toBe(404)
})

describe('a body in YAML', () => {
  it('is refused if its aliases make it too large', async () => {
    const aliases = Array.from({ length: 50 }, (_, index) => `key-${index}: *long`).join(', ')
    const body = `metadata: {name: a}\ndata: {first: &long ${'x'.repeat(100_000)}, ${aliases}}`
    const { front } = setUp()
    const headers = { authorization: 'Bearer root', 'content-type': 'application/yaml' }
    const answer = await front.handle({ method: 'POST', path: MAPS, headers, body }, new AbortController().signal)
    expect(answer.status).toBe(413)
  })

  it('with too many aliases is refused before they are resolved', async () => {
    const body = Array.from({ length: 20_000 }, (_, at) => `a${at}: &a${at} x\nb${at}: *a${at}`).join('\n')
    const { front } = setUp()
    const headers = { authorization: 'Bearer root', 'content-type': 'application/yaml' }
    const answer = await front.handle({ method: 'POST', path: MAPS, headers, body }, new AbortController().signal)
    expect(answer.status).toBe(400)
    let said = ''
    for await (const chunk of answer.body) said += String(chunk)
    expect(said).toContain('yaml: it has more than 1000 aliases')
  })
})

it('nested patches create no object that is too deep to be read', async () => {
  const { send } = setUp()
  const free = { 'x-kubernetes-preserve-unknown-fields': true }
  await send('root', `POST ${DEFINITIONS}`, aDefinition('hostiles.example.com', 'example.com', {}, free))
  const path = '/apis/example.com/v1/namespaces/default/hostiles'
  await send('root', `POST ${path}`, { apiVersion: 'example.com/v1', kind: 'Hostile', metadata: { name: 'a' }, data: {} })
  const value = JSON.parse(`${'{"a":'.repeat(90)}{}${'}'.repeat(90)}`) as object
  const deepen = async (at: string): Promise<number> => {
    const headers = { 'content-type': 'application/json-patch+json' }
    return (await send('root', `PATCH ${path}/a`, [{ op: 'add', path: at, value }], headers)).status
  }
  const at = [1, 92, 183].map((levels) => `/data${'/a'.repeat(levels)}`)
  expect([await deepen(at[0]!), await deepen(at[1]!), await deepen(at[2]!)]).toEqual([200, 200, 400])
})

describe('a value nested ten thousand levels deep', () => {
  const deepText = (levels: number): string => `${'{"a":'.repeat(levels)}"]}"${'}'.repeat(levels)}`
  const path = '/apis/apps/v1/namespaces/default/controllerrevisions'
  const revision = (data: string): string =>
    `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"a"},"data":${data},"revision":1}`

  async function ask(front: Front, line: string, body?: string, type = 'application/json'): Promise<{ status: number; text: string }> {
    const [method = '', to = ''] = line.split(' ')
    const headers = { authorization: 'Bearer root', 'content-type': type }
    const answer = await front.handle({ method, path: to, headers, ...(body !== undefined && { body }) }, new AbortController().signal)
    let text = ''
    for await (const chunk of answer.body) text += String(chunk)
    return { status: answer.status, text }
  }

  it.each([98, 99, 100, 201, 1_000, 9_998])('is stored and read as it was written, in data of %i levels', async (levels) => {
    const { front } = setUp()
    const data = deepText(levels)
    expect((await ask(front, `POST ${path}`, revision(data))).status).toBe(201)
    expect((await ask(front, `GET ${path}/a`)).text).toContain(`"data":${data}`)
    expect((await ask(front, `GET ${path}`)).text).toContain(`"data":${data}`)
  })

  it('is stored by a patch', async () => {
    const { front } = setUp()
    await ask(front, `POST ${path}`, revision('{}'))
    const patch = `{"metadata":{"annotations":{"a":"b"}},"data":${deepText(9_000)}}`
    // `data` may not change, and the comparison overflows no stack.
    expect(await ask(front, `PATCH ${path}/a`, patch, 'application/merge-patch+json')).toMatchObject({ status: 422 })
  })

  it('is rejected above that', async () => {
    expect(await ask(setUp().front, `POST ${path}`, revision(deepText(10_000)))).toMatchObject({
      status: 400,
      text: expect.stringContaining('exceeded max depth') as string,
    })
  })
})

it('a badly encoded name of an extra field is used as it is', async () => {
  const headers = { 'impersonate-user': 'bob', 'impersonate-extra-%zz': 'x' }
  const { json } = await setUp().send('root', 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews', {}, headers)
  expect(json['status']).toMatchObject({ userInfo: { username: 'bob', extra: { '%zz': ['x'] } } })
})

function aDefinition(name: string, group: string, metadata: object = {}, more: object = {}): object {
  const [plural = ''] = name.split('.')
  const schema = { openAPIV3Schema: { type: 'object', ...more } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, ...metadata },
    spec: { group, scope: 'Namespaced', names: { plural, kind: 'Hostile' }, versions },
  }
}

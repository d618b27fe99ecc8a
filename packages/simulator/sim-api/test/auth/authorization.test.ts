import { describe, expect, it } from 'vitest'
import { jane, rule, setUp } from './testing.ts'

const PODS = '/api/v1/namespaces/default/pods'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const forbiddenText = (verb: string, what: string): string => `User "jane" cannot ${verb} resource "${what}" in API group ""`

describe('a request that nothing allows is refused', () => {
  const cases: Record<string, { token: string | undefined; line: string; says: string; details: object }> = {
    'in a namespace': {
      token: 'jane',
      line: `GET ${PODS}`,
      says: `pods is forbidden: ${forbiddenText('list', 'pods')} in the namespace "default"`,
      details: { kind: 'pods' },
    },
    'at the cluster scope': {
      token: 'jane',
      line: 'GET /api/v1/nodes?watch=true',
      says: `nodes is forbidden: ${forbiddenText('watch', 'nodes')} at the cluster scope`,
      details: { kind: 'nodes' },
    },
    'about one object': {
      token: 'jane',
      line: `DELETE ${PODS}/a`,
      says: `pods "a" is forbidden: ${forbiddenText('delete', 'pods')} in the namespace "default"`,
      details: { name: 'a', kind: 'pods' },
    },
    'about a subresource': {
      token: 'jane',
      line: `POST ${PODS}/a/eviction`,
      says: `pods "a" is forbidden: ${forbiddenText('create', 'pods/eviction')} in the namespace "default"`,
      details: { name: 'a', kind: 'pods' },
    },
    'of a named group': {
      token: 'jane',
      line: 'DELETE /apis/apps/v1/namespaces/default/daemonsets',
      says: 'daemonsets.apps is forbidden: User "jane" cannot deletecollection resource "daemonsets" in API group "apps" in the namespace "default"',
      details: { group: 'apps', kind: 'daemonsets' },
    },
    'without a token': {
      token: undefined,
      line: `GET ${PODS}`,
      says: 'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"',
      details: { kind: 'pods' },
    },
    'outside the resources': {
      token: undefined,
      line: 'GET /apis',
      says: 'forbidden: User "system:anonymous" cannot get path "/apis"',
      details: {},
    },
  }
  it.each(Object.entries(cases))('%s', async (_name, { token, line, says, details }) => {
    const { status, json } = await setUp().send(token, line)
    expect({ status, message: json.message, reason: json.reason, details: json.details }).toEqual({
      status: 403,
      message: says,
      reason: 'Forbidden',
      details,
    })
  })

  it('before the resource is looked up', async () => {
    expect((await setUp().send('jane', 'GET /apis/example.com/v1/things')).status).toBe(403)
  })
})

it('an unknown token is refused', async () => {
  expect(await setUp().send('other', `GET ${PODS}`)).toMatchObject({
    status: 401,
    json: { message: 'Unauthorized', reason: 'Unauthorized' },
  })
})

it('version and health need no token, and discovery needs any token', async () => {
  const { send } = setUp()
  expect((await send(undefined, 'GET /version')).status).toBe(200)
  expect((await send('joe', 'GET /apis')).status).toBe(200)
})

describe('a role allows', () => {
  const cases: Record<string, { rules: readonly object[]; line: string; allowed: boolean }> = {
    'what it names': { rules: [rule('pods', 'list')], line: `GET ${PODS}`, allowed: true },
    'no other verb': { rules: [rule('pods', 'get')], line: `GET ${PODS}`, allowed: false },
    'no other group': { rules: [rule('daemonsets', '*')], line: 'GET /apis/apps/v1/namespaces/default/daemonsets', allowed: false },
    'no subresource of what it names': { rules: [rule('pods', '*')], line: `GET ${PODS}/a/status`, allowed: false },
    'a subresource of everything': { rules: [rule('*/status', 'get')], line: `GET ${PODS}/a/status`, allowed: true },
    'everything with a wildcard': { rules: [rule('*', '*')], line: `GET ${PODS}/a/status`, allowed: true },
    'one object by its name': { rules: [rule('pods', 'get', { resourceNames: ['a'] })], line: `GET ${PODS}/a`, allowed: true },
    'no other object': { rules: [rule('pods', 'get', { resourceNames: ['b'] })], line: `GET ${PODS}/a`, allowed: false },
    'a watch of one object': {
      rules: [rule('pods', 'watch', { resourceNames: ['a'] })],
      line: `GET ${PODS}?watch=true&fieldSelector=metadata.name%3Da&timeoutSeconds=0`,
      allowed: true,
    },
    'nothing in another namespace': { rules: [rule('pods', '*')], line: 'GET /api/v1/namespaces/kube-system/pods', allowed: false },
    'nothing over all namespaces': { rules: [rule('pods', '*')], line: 'GET /api/v1/pods', allowed: false },
  }
  it.each(Object.entries(cases))('%s', async (_name, { rules, line, allowed }) => {
    const { front, grant } = setUp()
    await grant('some', rules, [jane])
    const [method = '', path = ''] = line.split(' ')
    const answer = await front.handle({ method, path, headers: { authorization: 'Bearer jane' } }, new AbortController().signal)
    expect(answer.status !== 403).toBe(allowed)
  })

  it('what it names to a group, and to a service account', async () => {
    const { send, grant } = setUp()
    await grant(
      'some',
      [rule('pods', 'list')],
      [
        { kind: 'Group', name: 'team' },
        { kind: 'ServiceAccount', name: 'default' },
      ],
    )
    expect((await send('jane', `GET ${PODS}`)).status).toBe(200)
    expect((await send('joe', `GET ${PODS}`)).status).toBe(403)
  })

  it('nothing once it is deleted, and the error says so', async () => {
    const { send, grant } = setUp()
    await grant('some', [rule('pods', 'list')], [jane])
    expect((await send('jane', `GET ${PODS}`)).status).toBe(200)
    await send('root', `DELETE ${RBAC}/namespaces/default/roles/some`)
    const { json } = await send('jane', `GET ${PODS}`)
    expect(json.message).toMatch(/: RBAC: role\.rbac\.authorization\.k8s\.io "some" not found$/)
  })
})

describe('cluster roles', () => {
  it('and their bindings exist from the start', async () => {
    const { send } = setUp()
    for (const name of ['admin', 'edit', 'view', 'cluster-admin', 'system:basic-user', 'system:discovery'])
      expect((await send('root', `GET ${RBAC}/clusterroles/${name}`)).status).toBe(200)
    expect((await send('root', `GET ${RBAC}/clusterrolebindings/cluster-admin`)).json['subjects']).toEqual([
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:masters' },
    ])
  })

  it('view reads everything but secrets, edit also changes it, admin grants rights in a namespace', async () => {
    const { send } = setUp()
    const bind = (role: string): Promise<unknown> =>
      send('root', `POST ${RBAC}/namespaces/default/rolebindings`, {
        metadata: { name: role },
        roleRef: { kind: 'ClusterRole', name: role },
        subjects: [jane],
      })
    const may = async (line: string): Promise<boolean> => (await send('jane', line, {})).status !== 403
    const lines = [`GET ${PODS}`, 'GET /api/v1/namespaces/default/secrets', `DELETE ${PODS}/a`, `DELETE ${RBAC}/namespaces/default/roles/a`]
    for (const [role, want] of [
      ['view', [true, false, false, false]],
      ['edit', [true, true, true, false]],
      ['admin', [true, true, true, true]],
    ] as const) {
      await bind(role)
      expect(await Promise.all(lines.map(may))).toEqual(want)
    }
  })

  it('gain the rules of each role with their label, and lose them with it', async () => {
    const { send } = setUp()
    const metadata = { name: 'widgets', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } }
    const rules = [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get'] }]
    const groups = async (role: string): Promise<readonly string[]> => {
      const { json } = await send('root', `GET ${RBAC}/clusterroles/${role}`)
      return (json['rules'] as { apiGroups?: string[] }[]).flatMap(({ apiGroups = [] }) => apiGroups)
    }
    await send('root', `POST ${RBAC}/clusterroles`, { metadata, rules })
    expect([await groups('view'), await groups('admin')].map((all) => all.includes('example.com'))).toEqual([true, true])
    await send('root', `DELETE ${RBAC}/clusterroles/widgets`)
    expect([await groups('view'), await groups('admin')].map((all) => all.includes('example.com'))).toEqual([false, false])
  })
})

describe('a user cannot grant rights that they lack', () => {
  const role = { metadata: { name: 'more' }, rules: [rule('secrets', 'get list')] }
  const binding = { metadata: { name: 'more' }, roleRef: { kind: 'ClusterRole', name: 'view' }, subjects: [jane] }
  const roles = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['*'] }

  it('in a role', async () => {
    const { send, grant } = setUp()
    await grant('granter', [{ ...roles, verbs: ['create', 'update'] }], [jane])
    const { status, json } = await send('jane', `POST ${RBAC}/namespaces/default/roles`, role)
    expect({ status, message: json.message }).toEqual({
      status: 403,
      message:
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "jane" (groups=["team" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
    })
  })

  it('in a binding', async () => {
    const { send, grant } = setUp()
    await grant('granter', [{ ...roles, verbs: ['create'] }], [jane])
    const { status, json } = await send('jane', `POST ${RBAC}/namespaces/default/rolebindings`, binding)
    expect([status, json.message]).toEqual([403, expect.stringContaining('is attempting to grant RBAC permissions not currently held')])
  })

  it('unless they hold the rights themselves', async () => {
    const { send, grant } = setUp()
    await grant('granter', [{ ...roles, verbs: ['create'] }, rule('secrets', '*')], [jane])
    expect((await send('jane', `POST ${RBAC}/namespaces/default/roles`, role)).status).toBe(201)
  })

  it('unless they have the verbs escalate and bind', async () => {
    const { send, grant } = setUp()
    const bindView = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['bind'], resourceNames: ['view'] }
    await grant('granter', [{ ...roles, verbs: ['create', 'escalate'] }, bindView], [jane])
    expect((await send('jane', `POST ${RBAC}/namespaces/default/roles`, role)).status).toBe(201)
    expect((await send('jane', `POST ${RBAC}/namespaces/default/rolebindings`, binding)).status).toBe(201)
  })
})

describe('impersonation', () => {
  const headers = { 'impersonate-user': 'jane', 'impersonate-group': 'team, other' }
  const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

  it('uses the given name and groups', async () => {
    const { json } = await setUp().send('root', `POST ${selfReviews}`, {}, headers)
    expect(json['status']).toEqual({ userInfo: { username: 'jane', groups: ['team', 'other', 'system:authenticated'] } })
  })

  it('adds the groups of a service account', async () => {
    const { json } = await setUp().send('root', `POST ${selfReviews}`, {}, { 'impersonate-user': 'system:serviceaccount:default:x' })
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated']
    expect(json['status']).toEqual({ userInfo: { username: 'system:serviceaccount:default:x', groups } })
  })

  it('is refused without permission', async () => {
    const { status, json } = await setUp().send('joe', `POST ${selfReviews}`, {}, headers)
    expect(status).toBe(403)
    expect(json.message).toBe(
      'users "jane" is forbidden: User "joe" cannot impersonate resource "users" in API group "" at the cluster scope',
    )
  })

  it('needs permission for each group', async () => {
    const { send, grant } = setUp()
    await grant('actor', [rule('users', 'impersonate')], [{ kind: 'User', name: 'joe' }], true)
    const { json } = await send('joe', `POST ${selfReviews}`, {}, headers)
    expect(json.message).toBe(
      'groups "team" is forbidden: User "joe" cannot impersonate resource "groups" in API group "" at the cluster scope',
    )
  })
})

describe('roles and bindings are checked', () => {
  const cases: Record<string, { line: string; body: object; says: string }> = {
    'a rule without verbs': {
      line: `POST ${RBAC}/clusterroles`,
      body: { metadata: { name: 'x' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: [] }] },
      says: 'rules[0].verbs: Required value: verbs must contain at least one value',
    },
    'paths in a namespace': {
      line: `POST ${RBAC}/namespaces/default/roles`,
      body: { metadata: { name: 'x' }, rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] },
      says: 'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
    },
    'a binding to an invalid role': {
      line: `POST ${RBAC}/clusterrolebindings`,
      body: { metadata: { name: 'x' }, roleRef: { kind: 'Role', name: 'y' } },
      says: 'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
    },
    'a service account without a namespace': {
      line: `POST ${RBAC}/clusterrolebindings`,
      body: { metadata: { name: 'x' }, roleRef: { kind: 'ClusterRole', name: 'view' }, subjects: [{ kind: 'ServiceAccount', name: 'a' }] },
      says: 'subjects[0].namespace: Required value',
    },
  }
  it.each(Object.entries(cases))('%s', async (_name, { line, body, says }) => {
    expect(await setUp().send('root', line, body)).toMatchObject({ status: 422, json: { message: expect.stringContaining(says) } })
  })

  it('a binding keeps its role', async () => {
    const { send, grant } = setUp()
    await grant('some', [rule('pods', 'get')], [jane])
    const body = { metadata: { name: 'some' }, roleRef: { kind: 'ClusterRole', name: 'view' }, subjects: [jane] }
    const { json } = await send('root', `PUT ${RBAC}/namespaces/default/rolebindings/some`, body)
    expect(json.message).toContain('cannot change roleRef')
  })
})

import { describe, expect } from 'vitest'
import type { Api } from '../fixtures/api.ts'
import { type Answer, type Body, causesOf, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap, idlePod } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

const user = 'conformance-user'
const reviews = '/apis/authorization.k8s.io/v1'

/** Access control: RBAC, reviews, impersonation, tokens. */
export function describeAccess(it: ConformanceTest): void {
  const rule = (verbs: readonly string[], resources: readonly string[], more: Partial<GrantedRule> = {}): GrantedRule => ({
    apiGroups: [''],
    resources,
    verbs,
    ...more,
  })

  describe('RBAC', () => {
    it('refuses a user without permission with 403, and names the missing one', async ({ api, namespace }) => {
      const answer = await api.get(pathOf.pods(namespace), { as: user })
      expect(answer).toMatchObject({
        status: 403,
        body: {
          reason: 'Forbidden',
          message: `pods is forbidden: User "${user}" cannot list resource "pods" in API group "" in the namespace "${namespace}"`,
          details: { kind: 'pods' },
          code: 403,
        },
      })
    })

    it('names object and group in the message', async ({ api, namespace }) => {
      const answer = await api.delete(pathOf.daemonSets(namespace, 'a'), { as: user })
      expect(answer.body).toMatchObject({
        message: `daemonsets.apps "a" is forbidden: User "${user}" cannot delete resource "daemonsets" in API group "apps" in the namespace "${namespace}"`,
        details: { name: 'a', group: 'apps', kind: 'daemonsets' },
      })
    })

    it('names the cluster scope for a cluster-scoped resource', async ({ api }) => {
      const answer = await api.get(pathOf.nodes(), { as: user })
      expect(answer.body['message']).toBe(
        `nodes is forbidden: User "${user}" cannot list resource "nodes" in API group "" at the cluster scope`,
      )
    })

    it('grants a user the permissions of a role in the namespace, and nothing else', async ({ api, namespace }) => {
      await grant(api, namespace, [rule(['get', 'list'], ['configmaps'])])
      const status = async (path: string): Promise<number> => (await api.get(path, { as: user })).status
      expect(await status(pathOf.configMaps(namespace))).toBe(200)
      expect(await status(pathOf.secrets(namespace))).toBe(403)
      expect(await status(pathOf.configMaps('default'))).toBe(403)
      expect((await api.post(pathOf.configMaps(namespace), configMap('b'), { as: user })).status).toBe(403)
      expect((await api.get(`${pathOf.configMaps(namespace)}?watch=true`, { as: user })).status).toBe(403)
    })

    it('requires permission to create for an apply of a missing object', async ({ api, namespace }) => {
      await grant(api, namespace, [rule(['get', 'list', 'patch'], ['configmaps'])])
      const applied = async (): Promise<Answer> =>
        api.patch(pathOf.configMaps(namespace, 'a'), 'apply', configMap('a'), { query: { fieldManager: 'ci' }, as: user })
      expect((await applied()).body['message']).toBe(
        `configmaps "a" is forbidden: User "${user}" cannot create resource "configmaps" in API group "" in the namespace "${namespace}"`,
      )
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect((await applied()).status).toBe(200)
    })

    it('distinguishes resources and their subresources', async ({ api, namespace }) => {
      await grant(api, namespace, [rule(['patch'], ['pods/status'])])
      await api.create(pathOf.pods(namespace), idlePod('a'))
      const patch = async (subresource?: string): Promise<number> =>
        (await api.patch(pathOf.pods(namespace, 'a', subresource), 'merge', { metadata: { labels: { a: 'b' } } }, { as: user })).status
      expect([await patch('status'), await patch()]).toEqual([200, 403])
    })

    it('may allow single names', async ({ api, namespace }) => {
      await grant(api, namespace, [rule(['get'], ['configmaps'], { resourceNames: ['a'] })])
      for (const name of ['a', 'b']) await api.create(pathOf.configMaps(namespace), configMap(name))
      const get = async (name: string): Promise<number> => (await api.get(pathOf.configMaps(namespace, name), { as: user })).status
      expect([await get('a'), await get('b')]).toEqual([200, 403])
    })

    it('binds to groups', async ({ api, namespace }) => {
      await grant(api, namespace, [rule(['list'], ['configmaps'])], { kind: 'Group', name: 'conformance-group' })
      const list = async (groups: readonly string[]): Promise<number> =>
        (await api.get(pathOf.configMaps(namespace), { as: user, groups })).status
      expect([await list(['conformance-group']), await list([])]).toEqual([200, 403])
    })

    it('binds to service accounts', async ({ api, namespace }) => {
      await grant(api, namespace, [rule(['list'], ['configmaps'])], { kind: 'ServiceAccount', name: 'default' })
      const list = async (account: string): Promise<number> =>
        (await api.get(pathOf.configMaps(namespace), { as: `system:serviceaccount:${namespace}:${account}` })).status
      expect([await list('default'), await list('other')]).toEqual([200, 403])
    })

    it('lets no user grant rights that they do not have', async ({ api, namespace }) => {
      await grant(api, namespace, [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] }])
      const role = { metadata: { name: 'more' }, rules: [rule(['get'], ['secrets'])] }
      const answer = await api.post(pathOf.roles(namespace), role, { as: user })
      expect(answer).toMatchObject({ status: 403, body: { reason: 'Forbidden' } })
      expect(answer.body['message']).toContain('is attempting to grant RBAC permissions not currently held')
    })

    it('does not allow a change of the role of a binding', async ({ api, namespace }) => {
      await grant(api, namespace, [rule(['get'], ['configmaps'])])
      const answer = await api.patch(pathOf.roleBindings(namespace, 'granted'), 'merge', { roleRef: { name: 'other' } })
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueInvalid roleRef']])
    })

    it.for([
      { title: 'no verbs', rules: [{ apiGroups: [''], resources: ['pods'] }], causes: ['FieldValueRequired rules[0].verbs'] },
      {
        title: 'paths in a namespace',
        rules: [{ nonResourceURLs: ['/healthz'], verbs: ['get'] }],
        causes: ['FieldValueInvalid rules[0].nonResourceURLs'],
      },
    ])('refuses a role with $title', async ({ rules, causes }, { api, namespace }) => {
      const answer = await api.post(pathOf.roles(namespace), { metadata: { name: 'a' }, rules })
      expect([answer.status, causesOf(answer)]).toEqual([422, causes])
    })

    it('allows every authenticated user to read version, health and discovery', async ({ api }) => {
      for (const path of ['/version', '/healthz', '/api', '/apis', '/openapi/v3'])
        expect((await api.get(path, { as: user })).status).toBe(200)
      expect((await api.get('/metrics', { as: user })).status).toBe(403)
    })
  })

  describe('reviews', () => {
    const ask = async (api: Api, kind: string, spec: object, as?: string): Promise<Body> =>
      (
        await api.post(
          `${reviews}/${kind.toLowerCase()}s`,
          { apiVersion: 'authorization.k8s.io/v1', kind, spec },
          as === undefined ? {} : { as },
        )
      ).body

    it('report the permissions of the user', async ({ api, namespace }) => {
      await grant(api, namespace, [rule(['get'], ['configmaps'])])
      const allowed = async (verb: string): Promise<unknown> =>
        valueAt(
          await ask(api, 'SelfSubjectAccessReview', { resourceAttributes: { namespace, verb, resource: 'configmaps' } }, user),
          'status.allowed',
        )
      expect([await allowed('get'), await allowed('delete')]).toEqual([true, false])
    })

    it('report the permissions of other users', async ({ api, namespace }) => {
      await grant(api, namespace, [rule(['get'], ['configmaps'])])
      const body = await ask(api, 'SubjectAccessReview', { user, resourceAttributes: { namespace, verb: 'get', resource: 'configmaps' } })
      expect(body).toMatchObject({ kind: 'SubjectAccessReview', status: { allowed: true, reason: expect.stringContaining('granted') } })
    })

    it('are not stored, and are answered with 201', async ({ api }) => {
      const spec = { user, nonResourceAttributes: { path: '/metrics', verb: 'get' } }
      const answer = await api.post(`${reviews}/subjectaccessreviews`, { spec })
      expect(answer).toMatchObject({ status: 201, body: { status: { allowed: false } } })
      expect((await api.get(`${reviews}/subjectaccessreviews`)).status).toBe(405)
    })

    it.for([
      { title: 'neither resource nor path', spec: { user } },
      { title: 'both resource and path', spec: { user, resourceAttributes: {}, nonResourceAttributes: {} } },
      { title: 'no subject', spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
    ])('are refused for $title with 422', async ({ spec }, { api }) => {
      expect((await api.post(`${reviews}/subjectaccessreviews`, { spec })).status).toBe(422)
    })

    it('list the rules of a user', async ({ api, namespace }) => {
      await grant(api, namespace, [rule(['get'], ['configmaps'])])
      const body = await ask(api, 'SelfSubjectRulesReview', { namespace }, user)
      expect(valueAt(body, 'status.resourceRules')).toEqual(
        expect.arrayContaining([{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]),
      )
    })

    it('report the name of a user', async ({ api }) => {
      const answer = await api.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { as: user, groups: ['g'] })
      expect(valueAt(answer.body, 'status.userInfo')).toMatchObject({ username: user, groups: ['g', 'system:authenticated'] })
    })
  })

  describe('tokens of service accounts', () => {
    const request = async (api: Api, namespace: string, spec: object = {}): Promise<Body> =>
      (
        await api.post(pathOf.serviceAccounts(namespace, 'default', 'token'), {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec,
        })
      ).body
    const review = async (api: Api, spec: object): Promise<Body> =>
      (await api.post('/apis/authentication.k8s.io/v1/tokenreviews', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }))
        .body

    it('are issued on request, for a limited time', async ({ api, namespace }) => {
      const { status } = (await request(api, namespace, { expirationSeconds: 3600 })) as Body & {
        readonly status: Readonly<Record<string, string>>
      }
      expect(status['token']?.split('.')).toHaveLength(3)
      expect(Date.parse(status['expirationTimestamp'] ?? '')).toBeGreaterThan(0)
    })

    it('are accepted by a TokenReview', async ({ api, namespace }) => {
      const token = valueAt(await request(api, namespace), 'status.token')
      expect(await review(api, { token })).toMatchObject({
        status: {
          authenticated: true,
          user: {
            username: `system:serviceaccount:${namespace}:default`,
            groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
          },
        },
      })
    })

    it('are not accepted when they are wrong', async ({ api }) => {
      const body = await review(api, { token: 'wrong' })
      expect(valueAt(body, 'status.authenticated')).toBeUndefined()
    })

    it('are refused for less than ten minutes', async ({ api, namespace }) => {
      const path = pathOf.serviceAccounts(namespace, 'default', 'token')
      const answer = await api.post(path, { spec: { expirationSeconds: 60 } })
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueInvalid spec.expirationSeconds']])
    })

    it('are not issued for an account that does not exist', async ({ api, namespace }) => {
      expect((await api.post(pathOf.serviceAccounts(namespace, 'none', 'token'), { spec: {} })).status).toBe(404)
    })
  })
}

interface GrantedRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** Gives the user of the suite, or another subject, these rules in a namespace; they are in force when it returns. */
async function grant(
  api: Api,
  namespace: string,
  rules: readonly GrantedRule[],
  subject: { readonly kind: string; readonly name: string } = { kind: 'User', name: user },
): Promise<void> {
  const of = subject.kind === 'ServiceAccount' ? { namespace } : { apiGroup: 'rbac.authorization.k8s.io' }
  await api.create(pathOf.roles(namespace), { metadata: { name: 'granted' }, rules })
  await api.create(pathOf.roleBindings(namespace), {
    metadata: { name: 'granted' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'granted' },
    subjects: [{ ...subject, ...of }],
  })
  for (const one of rules) {
    const spec = { ...subjectFields(subject, namespace), resourceAttributes: attributesOf(one, namespace) }
    await api.askUntil(
      () => api.post(`${reviews}/subjectaccessreviews`, { spec }),
      `the force of the rules for ${subject.kind} ${subject.name}`,
      ({ body }) => valueAt(body, 'status.allowed') === true,
    )
  }
}

function subjectFields({ kind, name }: { readonly kind: string; readonly name: string }, namespace: string): object {
  if (kind === 'ServiceAccount') return { user: `system:serviceaccount:${namespace}:${name}` }
  return kind === 'Group' ? { user: 'member', groups: [name] } : { user: name }
}

/** The first thing that a rule allows. */
function attributesOf({ apiGroups, resources, verbs, resourceNames = [] }: GrantedRule, namespace: string): object {
  const [resource = '', subresource] = resources[0]?.split('/') ?? []
  return { namespace, verb: verbs[0], group: apiGroups[0], resource, subresource, name: resourceNames[0] }
}

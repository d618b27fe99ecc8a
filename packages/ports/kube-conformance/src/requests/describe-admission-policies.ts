import { describe, expect } from 'vitest'
import type { Api } from '../fixtures/api.ts'
import { causesOf, namesOf } from '../fixtures/body.ts'
import { type ConformanceTest, RUN_LABEL } from '../fixtures/fixtures.ts'
import { configMap } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] }]

/**
 * A kind of parameters, of this test alone. An API server stops following a kind of its own, such as ConfigMaps, for good once no policy
 * takes its parameters from there: kubernetes/kubernetes#130887.
 */
interface Words {
  readonly path: string
  readonly kind: { readonly apiVersion: string; readonly kind: string }
}

/** Puts policies in force for the ConfigMaps of one namespace, and takes them away with the test. */
type Enforce = (kind: 'Mutating' | 'Validating', spec: Spec, binding?: Spec) => Promise<void>
type Spec = Readonly<Record<string, unknown>>

/** Policies in CEL that the API server evaluates at every write that they match. */
export function describeAdmissionPolicies(base: ConformanceTest): void {
  const it = base
    .extend('words', async ({ api, namespace, uniqueName }, { onCleanup }): Promise<Words> => {
      const group = `${uniqueName}.example.com`
      onCleanup(async () => void (await api.delete(pathOf.customResourceDefinitions(`words.${group}`))))
      await api.create(pathOf.customResourceDefinitions(), wordsIn(group))
      const path = `/apis/${group}/v1/namespaces/${namespace}/words`
      await api.getUntil(path, 'the words to be served', ({ status }) => status === 200)
      return { path, kind: { apiVersion: `${group}/v1`, kind: 'Word' } }
    })
    .extend('enforce', async ({ api, namespace, uniqueName }, { onCleanup }): Promise<Enforce> => {
      const made: string[] = []
      onCleanup(async () => {
        for (const path of made.toReversed()) await api.delete(path)
      })
      const create = async (plural: string, kind: string, name: string, spec: Spec): Promise<void> => {
        const object = {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind,
          metadata: { name, labels: { [RUN_LABEL]: uniqueName } },
          spec,
        }
        await api.create(`${GROUP}/${plural}`, object)
        made.push(`${GROUP}/${plural}/${name}`)
      }
      return async (kind, spec, binding = {}) => {
        const name = `${uniqueName}-${made.length}`
        const prefix = kind.toLowerCase()
        const selected = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } }, resourceRules: rules }
        const { matchConstraints = {}, ...others } = spec
        const constraints = { ...selected, ...(matchConstraints as object) }
        await create(`${prefix}admissionpolicies`, `${kind}AdmissionPolicy`, name, { matchConstraints: constraints, ...others })
        await create(`${prefix}admissionpolicybindings`, `${kind}AdmissionPolicyBinding`, name, {
          policyName: name,
          ...(kind === 'Validating' && { validationActions: ['Deny'] }),
          ...binding,
        })
        await whenInForce(api, namespace)
      }
    })

  /** A policy counts a moment after it is stored: one that marks every object says when those before it do. */
  async function whenInForce(api: Api, namespace: string): Promise<void> {
    const probe = configMap('probe', { metadata: { name: 'probe', labels: { probe: 'yes' } } })
    await api.askUntil(
      () => api.post(pathOf.configMaps(namespace), probe, { query: { dryRun: 'All' } }),
      'the force of the policies of this test',
      ({ status, headers, body }) =>
        status !== 201 || headers['warning'] !== undefined || body.metadata.annotations?.['probed'] !== undefined,
    )
  }
  const isProbe = `has(object.metadata.labels) && 'probe' in object.metadata.labels`
  const mark = `JSONPatch{op: 'add', path: '/metadata/annotations', value: {'probed': 'yes'}}`
  /** Matches deletions, and the probe. */
  const onDelete = (more: Spec): Spec => {
    const [rule] = rules
    const created = { ...rule, operations: ['CREATE'], resourceNames: ['probe'] }
    return { matchConstraints: { resourceRules: [created, { ...rule, operations: ['DELETE'], ...more }] } }
  }
  const mutating = (expression: string, more: Spec = {}): Spec => ({
    reinvocationPolicy: 'Never',
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: `${isProbe} ? [${mark}] : ${expression}` } }],
    ...more,
  })
  const validating = (expression: string, more: Spec = {}, validation: Spec = {}): Spec => ({
    validations: [{ expression: `!(${isProbe}) && (${expression})`, ...validation }],
    ...more,
  })

  describe('a policy that changes objects', () => {
    it('patches them with values of its variables', async ({ api, namespace, enforce }) => {
      const variables = [
        { name: 'data', expression: 'object.?data.orValue({})' },
        { name: 'lost', expression: `oldObject == null ? [] : ['a', 'b'].filter(key, key in oldObject.data && !(key in variables.data))` },
      ]
      await enforce(
        'Mutating',
        mutating(`variables.lost.map(key, JSONPatch{op: 'add', path: '/data/' + key, value: oldObject.data[key]})`, { variables }),
      )
      await api.create(pathOf.configMaps(namespace), configMap('a', { data: { a: '1', b: '2', c: '3' } }))
      const { status, body } = await api.put(pathOf.configMaps(namespace, 'a'), configMap('a', { data: { a: '9' } }))
      expect([status, body['data']]).toEqual([200, { a: '9', b: '2' }])
    })

    it('compares optional values, and escapes keys', async ({ api, namespace, enforce }) => {
      const expression = `object.metadata.?labels[?'x/y'] == optional.of('1') && object.metadata.?annotations[?'n'] == optional.none()
        ? [JSONPatch{op: 'replace', path: '/metadata/labels/' + 'x/y'.replace('/', '~1'), value: '2'}] : []`
      await enforce('Mutating', mutating(`(${expression})`))
      const { body } = await api.post(pathOf.configMaps(namespace), configMap('a', { metadata: { name: 'a', labels: { 'x/y': '1' } } }))
      expect(body.metadata.labels).toEqual({ 'x/y': '2' })
    })

    it('is skipped if one of its conditions does not hold', async ({ api, namespace, enforce }) => {
      const matchConditions = [
        { name: 'not-theirs', expression: `request.options.?fieldManager.orValue('') != 'theirs'` },
        { name: 'new', expression: 'oldObject == null' },
      ]
      await enforce('Mutating', mutating(`[JSONPatch{op: 'add', path: '/data/z', value: 'new'}]`, { matchConditions }))
      const post = (name: string, fieldManager: string) =>
        api.post(pathOf.configMaps(namespace), configMap(name), { query: { fieldManager } })
      const [theirs, ours] = [await post('a', 'theirs'), await post('b', 'ours')]
      expect([theirs.body['data'], ours.body['data']]).toEqual([{ a: '1' }, { a: '1', z: 'new' }])
    })

    it('refuses an object that it cannot evaluate, or ignores that if its failurePolicy says so', async ({ api, namespace, enforce }) => {
      const failing = (key: string): string =>
        `('${key}' in object.data ? [JSONPatch{op: 'add', path: '/data/z', value: object.data['missing']}] : [])`
      await enforce('Mutating', mutating(failing('fails')))
      await enforce('Mutating', mutating(failing('ignored'), { failurePolicy: 'Ignore' }))
      const post = (name: string, data: Spec) => api.post(pathOf.configMaps(namespace), configMap(name, { data }))
      expect(await post('a', { ignored: 'yes' })).toMatchObject({ status: 201 })
      expect(await post('b', { fails: 'yes' })).toMatchObject({
        status: 403,
        body: {
          reason: 'Invalid',
          message: expect.stringMatching(/^policy '.*' with binding '.*' denied request: .*no such key: missing/),
        },
      })
    })
  })

  describe('a policy that refuses', () => {
    it('names itself, its binding and the message', async ({ api, namespace, enforce, uniqueName }) => {
      await enforce('Validating', validating(`!has(object.data.bad)`, {}, { message: 'bad is bad' }))
      const answer = await api.post(pathOf.configMaps(namespace), configMap('a', { data: { bad: '1' } }))
      const message = `ValidatingAdmissionPolicy '${uniqueName}-0' with binding '${uniqueName}-0' denied request: bad is bad`
      expect(answer).toMatchObject({
        status: 422,
        body: {
          reason: 'Invalid',
          message: `configmaps "a" is forbidden: ${message}`,
          details: { name: 'a', kind: 'configmaps', causes: [{ message }] },
        },
      })
    })

    it('builds its message from the object, and gives a reason', async ({ api, namespace, enforce }) => {
      await enforce(
        'Validating',
        validating(`!has(object.data.bad)`, {}, { messageExpression: `'not ' + object.data.bad`, reason: 'Forbidden' }),
      )
      const answer = await api.post(pathOf.configMaps(namespace), configMap('a', { data: { bad: 'this' } }))
      expect(answer).toMatchObject({
        status: 403,
        body: { reason: 'Forbidden', message: expect.stringMatching(/denied request: not this$/) },
      })
    })

    it('only warns if its binding says so', async ({ api, namespace, enforce, uniqueName }) => {
      await enforce('Validating', validating(`!has(object.data.bad)`, {}, { message: 'bad is bad' }), { validationActions: ['Warn'] })
      const { status, headers } = await api.post(pathOf.configMaps(namespace), configMap('a', { data: { bad: '1' } }))
      const policy = `ValidatingAdmissionPolicy '${uniqueName}-0' with binding '${uniqueName}-0'`
      expect([status, headers['warning']]).toEqual([201, `299 - "Validation failed for ${policy}: bad is bad"`])
    })

    it('evaluates every object that its binding matches', async ({ api, namespace, enforce, words }) => {
      const path = pathOf.configMaps(namespace)
      for (const word of ['x', 'y'])
        await api.create(words.path, { ...words.kind, metadata: { name: `no-${word}`, labels: { words: 'yes' } }, data: { word } })
      await enforce(
        'Validating',
        validating(
          '!(params.data.word in object.data)',
          { paramKind: words.kind },
          { messageExpression: `params.metadata.name + ' forbids it'` },
        ),
        { paramRef: { selector: { matchLabels: { words: 'yes' } }, parameterNotFoundAction: 'Allow' } },
      )
      const [refused, passed] = [
        await api.post(path, configMap('a', { data: { y: '1' } })),
        await api.post(path, configMap('b', { data: { z: '1' } })),
      ]
      expect(refused).toMatchObject({ status: 422, body: { message: expect.stringMatching(/: no-y forbids it$/) } })
      expect(passed).toMatchObject({ status: 201 })
    })

    it('by a name matches the name in the request, which is empty for the deletion of a collection', async ({
      api,
      namespace,
      enforce,
    }) => {
      await enforce('Validating', { ...onDelete({ resourceNames: ['kept'] }), validations: [{ expression: 'false' }] })
      const path = pathOf.configMaps(namespace)
      for (const name of ['kept', 'other']) await api.create(path, configMap(name, { metadata: { name, labels: { app: 'x' } } }))
      const [kept, other] = [await api.delete(`${path}/kept`), await api.delete(`${path}/other`)]
      const all = await api.delete(path, { query: { labelSelector: 'app=x' } })
      expect([kept.status, other.status, all.status, namesOf(all)]).toEqual([422, 200, 200, ['kept']])
    })

    it('sees each object of a deleted collection, and no name in the request', async ({ api, namespace, enforce }) => {
      const expression = `object == null && oldObject.metadata.name != 'kept'`
      const messageExpression = `'name in the request: ' + (has(request.name) ? request.name : 'none')`
      await enforce('Validating', { ...onDelete({}), validations: [{ expression, messageExpression, reason: 'Forbidden' }] })
      const path = pathOf.configMaps(namespace)
      await api.create(path, configMap('kept', { metadata: { name: 'kept', labels: { app: 'x' } } }))
      const answers = [await api.delete(path, { query: { labelSelector: 'app=x' } }), await api.delete(`${path}/kept`)]
      expect(answers.map(({ status, body }) => [status, String(body['message']).replace(/ is forbidden: .*denied request/, '')])).toEqual([
        [403, 'configmaps "Unknown": name in the request: none'],
        [403, 'configmaps "kept": name in the request: kept'],
      ])
    })

    it.for([
      {
        title: 'a condition that is not a bool',
        spec: { matchConditions: [{ name: 'x', expression: '1' }] },
        cause: 'spec.matchConditions[0].expression',
      },
      {
        title: 'a variable that does not compile',
        spec: { variables: [{ name: 'x', expression: '1 +' }] },
        cause: 'spec.variables[0].expression',
      },
      { title: 'a variable that does not exist', spec: { validations: [{ expression: 'foo' }] }, cause: 'spec.validations[0].expression' },
    ])('is refused itself for $title', async ({ spec, cause }, { api, uniqueName }) => {
      const policy = { matchConstraints: { resourceRules: rules }, validations: [{ expression: 'true' }], ...spec }
      const object = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: uniqueName },
        spec: policy,
      }
      const answer = await api.post(`${GROUP}/validatingadmissionpolicies`, object)
      expect([answer.status, causesOf(answer)]).toEqual([422, [`FieldValueInvalid ${cause}`]])
    })
  })
}

function wordsIn(group: string): object {
  const schema = { type: 'object', properties: { data: { type: 'object', additionalProperties: { type: 'string' } } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `words.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Word', plural: 'words', singular: 'word' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }
}

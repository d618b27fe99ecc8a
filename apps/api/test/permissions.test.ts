import { readFileSync } from 'node:fs'
import { problemSchema } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { Simulator } from '@tranche/sim'
import { resources } from '@tranche/sim-api'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Description, type Operation, operationsOf } from './fuzz/described.ts'
import type { FuzzRequest } from './fuzz/requests.ts'
import { type FuzzStage, openFuzzStage } from './fuzz/stage.ts'

interface Role {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules: readonly {
    readonly apiGroups: readonly string[]
    readonly resources: readonly string[]
    readonly verbs: readonly string[]
  }[]
}

/** Roles of the API in docs/operations/permissions.md. */
const page = readFileSync(`${import.meta.dirname}/../../../docs/operations/permissions.md`, 'utf8')
const roles = [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)]
  .map(([, text = '']) => text)
  .filter((text) => /^ {2}name: tranche-(api|hooks)$/m.test(text))
  .map((text) => parse(text) as Role)
const given = new Set(
  roles.flatMap(({ rules }) =>
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      verbs.flatMap((verb) => apiGroups.flatMap((group) => resources.map((resource) => `${verb} ${group}/${resource}`))),
    ),
  ),
)

const description = JSON.parse(readFileSync(`${import.meta.dirname}/../openapi.json`, 'utf8')) as Description
const bodies: Readonly<Record<string, object>> = {
  approve: { expectedStep: 1 },
  jump: { expectedStep: 1, step: 2 },
  sendToHook: { id: 'one', action: 'pause' },
  validate: { manifests: '' },
}
/** Operations that need a browser and an OpenID provider, or a link of `tranche dev`. */
const elsewhere = ['finishLogin', 'followLink', 'logIn', 'logOut']

/** Rights that the simulator does not report, because it answers reviews first; without them every request would be refused. */
const reviews = ['create authentication.k8s.io/tokenreviews', 'create authorization.k8s.io/subjectaccessreviews']

it('the API needs exactly the permissions of docs/operations/permissions.md', async () => {
  const asked = new Set<string>()
  const stage = await openFuzzStage({
    planMs: 1,
    api: { name: USER, groups: ['system:authenticated'] },
    faults: {
      onRequest({ actor, verb, resource, subresource }) {
        const right = `${verb} ${resource.group}/${resource.resource}`
        // Discovery and OpenAPI are open to every authenticated user.
        if (actor === USER && resource.resource !== 'documents') asked.add(subresource === undefined ? right : `${right}/${subresource}`)
        return undefined
      },
    },
    async prepare(simulator, client) {
      await client.patch(resourcePaths.rollouts, key, withPolicy)
      await client.patch(resourcePaths.daemonSets, key, withPriority)
      await client.create(resourcePaths.pods, pinningController as never)
      for (const role of roles) await bind(simulator, role)
    },
  })
  const refused: string[] = []
  try {
    for (const operation of operationsOf(description).filter(({ id }) => !elsewhere.includes(id))) {
      refused.push(...unmeant(operation, await stage.send(requestOf(operation, stage.revisions))))
      await stage.restore(await stage.store())
    }
  } finally {
    await stage.end()
  }
  expect(refused).toEqual([])
  expect([...asked].filter((right) => !given.has(right))).toEqual([])
  expect([...given].filter((right) => !asked.has(right) && !reviews.includes(right))).toEqual([])
})

const USER = 'system:serviceaccount:tranche:tranche-api'
const key = { namespace: 'demo', name: 'agent' }
const withPolicy = {
  type: 'merge',
  body: { metadata: { annotations: { 'tranche.dev/release-policy': 'careful' } } },
} as const
const withPriority = { type: 'merge', body: { spec: { template: { spec: { priorityClassName: 'important' } } } } } as const

/** Of a controller that pins config, the doctor page reads the policy for pods. */
const pinningController = {
  metadata: {
    namespace: 'demo',
    name: 'controller',
    labels: { 'app.kubernetes.io/part-of': 'tranche', 'app.kubernetes.io/component': 'controller' },
  },
  spec: { containers: [{ name: 'tranche', image: 'tranche:0.1.0', args: ['controller', '--pin-config'] }] },
}

async function bind(simulator: Simulator, role: Role): Promise<void> {
  const admin = simulator.clientFor({ name: 'admin' })
  const { name, namespace } = role.metadata
  const binding = {
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: role.kind, name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: USER }],
  }
  if (role.kind === 'ClusterRole') {
    await admin.create(resources.clusterRoles, role)
    await admin.create(resources.clusterRoleBindings, binding)
  } else {
    await admin.create(resources.roles, role)
    await admin.create(resources.roleBindings, binding)
  }
}

function requestOf(operation: Operation, [, before = '']: readonly string[]): FuzzRequest {
  const values: Readonly<Record<string, string>> = { ...key, node: 'node-001', revision: before, hook: 'ci', code: 'NOT_FOUND' }
  const body = operation.body === undefined ? undefined : Buffer.from(JSON.stringify(bodies[operation.id] ?? {}))
  return {
    operation,
    method: operation.method,
    target: operation.path.replace(/\{(\w+)\}/g, (_all, name: string) => values[name] ?? ''),
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    sender: 'admin',
    signed: 'well',
    body,
    isChunked: false,
    stays: false,
  }
}

/** Ignores two expected errors that come after all reads: there is no hold, and no forecast finishes within a millisecond. */
function unmeant({ id }: Operation, answer: Awaited<ReturnType<FuzzStage['send']>>): readonly string[] {
  if (answer === null || answer === 'hung') return [`${id}: no answer`]
  if (answer.status < 300) return []
  const { code, detail } = problemSchema.parse(JSON.parse(answer.text))
  const isMeant =
    code === 'NOT_BOUND' || code === 'ACTION_REJECTED' || code === 'MOVED_ON' || (id === 'planRollout' && code === 'NOT_READY')
  return isMeant ? [] : [`${id}: ${answer.status} ${code}: ${detail}`]
}

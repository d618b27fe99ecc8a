import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { chartRules, scopedRoles } from '../../scripts/chart-rules.ts'
import { chart, helm, programs, render, renderText, type Rendered, type Values } from './chart.ts'
import { choices } from './values.ts'

const names = Object.keys(choices)
const withoutDefinitions = (values: Values): Values => ({ ...values, crds: { install: false } })

/** Number of programs that know which policies may drain or lock nodes: executors, and the controller, which reports other policies. */
const programsOf: readonly (readonly [choice: string, count: number])[] = [
  ['two namespaces', 2],
  ['all-in-one', 1],
]

describe.skipIf(programs === null)('the chart', () => {
  it('has no findings of helm lint, with any choice of values', async () => {
    for (const values of Object.values(choices)) {
      const { code, stdout, stderr } = await helm(['lint', '--strict', chart], { values })
      expect({ code, stderr, said: /\[(WARNING|ERROR)\].*/.exec(stdout)?.[0] }).toEqual({ code: 0, stderr: '', said: undefined })
    }
  })

  it.each([
    'all-in-one',
    'distributed',
    'every option',
    'two namespaces',
    'no object but processes',
    'a webhook',
    'a webhook by cert-manager',
  ])('renders %s as checked in', async (name) => {
    const text = await renderText(withoutDefinitions(choices[name]!))
    await expect(text).toMatchFileSnapshot(`golden/${name.replaceAll(' ', '-')}.yaml`)
  })

  it('gives cert-manager a Secret with its own name: it outlives its Certificate, and helm would refuse to take it over', async () => {
    const secretOf = async (enabled: boolean): Promise<unknown> => {
      const objects = await render({ admission: 'webhook', webhook: { certManager: { enabled } } })
      const reported = objects.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))
      const certificate = objects.find(({ kind }) => kind === 'Certificate')
      return {
        chart: objects.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name),
        certificate: (certificate?.spec as { readonly secretName?: string } | undefined)?.secretName,
        doctor: [...new Set(reported.map(({ metadata }) => metadata.annotations?.['tranche.dev/webhook-secret']))],
      }
    }
    expect(await secretOf(false)).toEqual({
      chart: ['tranche-webhook'],
      certificate: undefined,
      doctor: ['tranche-system/tranche-webhook'],
    })
    expect(await secretOf(true)).toEqual({
      chart: [],
      certificate: 'tranche-webhook-cert-manager',
      doctor: ['tranche-system/tranche-webhook-cert-manager'],
    })
  })

  it('opens no way into the cluster by default', async () => {
    const kinds = async (values: Values): Promise<readonly string[]> =>
      (await render(values)).map(({ kind }) => kind).filter((kind) => kind === 'Ingress' || kind === 'HTTPRoute')
    expect(await kinds({})).toEqual([])
    expect(await kinds({ api: { ingress: { enabled: true, host: 'tranche.example.com' } } })).toEqual(['Ingress'])
    expect(await kinds({ api: { httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] } } })).toEqual(['HTTPRoute'])
  })

  it('has the version of the program', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
    const { stdout } = await helm(['show', 'chart', chart])
    expect(stdout).toMatch(new RegExp(`^appVersion: ${version}$`, 'm'))
    expect(stdout).toMatch(new RegExp(`^version: ${version}$`, 'm'))
  })

  it('contains the CustomResourceDefinitions, which stay when it is uninstalled', async () => {
    const definitions = (await render({})).filter(({ kind }) => kind === 'CustomResourceDefinition')
    expect(definitions.map(({ metadata }) => metadata.name)).toEqual([
      'batchreleases.rollouts.kruise.io',
      'releasepolicies.tranche.dev',
      'rollouts.rollouts.kruise.io',
    ])
    expect(definitions.map(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'])).toEqual(['keep', 'keep', 'keep'])
  })

  it('contains definitions that helm deletes, or none, if the values say so', async () => {
    const definitions = async (crds: Values): Promise<readonly Rendered[]> =>
      (await render({ crds })).filter(({ kind }) => kind === 'CustomResourceDefinition')
    const deleted = await definitions({ keep: false })
    expect(deleted.map(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'])).toEqual([undefined, undefined, undefined])
    expect(await definitions({ install: false })).toEqual([])
  })
})

describe.skipIf(programs === null)('the permissions that the chart grants', () => {
  const page = chartRules()

  it('are those of docs/operations/permissions.md, rule by rule', async () => {
    const objects = await render({ ...choices['every option'], admission: 'webhook', fullnameOverride: 'tranche' })
    const rendered = objects.filter(({ kind }) => kind === 'ClusterRole')
    expect(Object.fromEntries(rendered.map(({ metadata, rules }) => [metadata.name, rules]))).toEqual(page.ClusterRole)
    const role = objects.find(({ kind, metadata }) => kind === 'Role' && metadata.namespace === 'kube-system')
    expect(role?.rules).toEqual(page.Role['tranche-controller'])
  })

  it('are added to the roles view, edit and admin of Kubernetes, unless the values say otherwise', async () => {
    const added = (objects: readonly Rendered[]): readonly unknown[] =>
      objects.flatMap(({ metadata }) =>
        Object.entries(metadata.labels ?? {}).flatMap(([label, value]) =>
          label.includes('/aggregate-to-') ? [[metadata.name, label, value]] : [],
        ),
      )
    expect(added(await render({}))).toEqual(
      ['view', 'edit', 'admin'].map((role) => [`tranche-aggregate-${role}`, `rbac.authorization.k8s.io/aggregate-to-${role}`, 'true']),
    )
    expect(added(await render({ rbac: { aggregateClusterRoles: false } }))).toEqual([])
  })

  it('are granted only in the namespaces of the scope, except for cluster-scoped objects', async () => {
    const objects = await render({ ...choices['two namespaces'], fullnameOverride: 'tranche' })
    const scoped = scopedRoles()
    const roles = objects.filter(({ kind, metadata }) => kind.endsWith('Role') && metadata.name in scoped)
    const [lease] = roles.filter(({ kind }) => kind === 'Role')
    expect([lease?.metadata.namespace, lease?.rules]).toEqual(['tranche-system', page.Role['tranche-controller']])
    for (const [name, { Cluster, Namespaced }] of Object.entries(scoped)) {
      expect(roles.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === name)?.rules).toEqual(Cluster)
      const scopes = objects.filter(({ kind, metadata }) => kind === 'Role' && metadata.name === `${name}-scope`)
      expect(scopes.map(({ metadata, rules }) => [metadata.namespace, rules])).toEqual(
        ['agents', 'network', ...(name === 'tranche-test' ? ['tranche-system'] : [])].map((one) => [one, Namespaced]),
      )
    }
    const bound = objects.filter(({ kind, metadata }) => kind === 'ClusterRoleBinding' && metadata.name in scoped)
    expect(bound).toHaveLength(4)
  })

  it('protect the definitions unless the values say otherwise, where the API server can', async () => {
    const policies = (objects: readonly Rendered[]): readonly string[] =>
      objects.filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy')).map(({ metadata }) => metadata.name)
    expect(policies(await render({ fullnameOverride: 'tranche' }))).toEqual(['tranche-definitions', 'tranche-definitions'])
    for (const crds of [{ protect: false }, { keep: false }, { install: false }]) expect(policies(await render({ crds }))).toEqual([])
  })

  it('limit executors that may create pods to helper pods, by a policy for their account, where the API server can', async () => {
    const accounts = async (values: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
      const policies = (await render(values)).filter(
        ({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && metadata.name.endsWith('helper-pods'),
      )
      return policies.map((policy) => JSON.stringify(policy).match(/request\.userInfo\.username == '([^']+)'/)?.[1] ?? '')
    }
    expect(await accounts({})).toEqual([])
    expect(await accounts({ ...choices['two namespaces'], fullnameOverride: 'tranche', rbac: { prePull: true } })).toEqual([
      'system:serviceaccount:tranche-system:tranche-executor',
    ])
    expect(await accounts({ mode: 'all-in-one', fullnameOverride: 'tranche', rbac: { prePull: true } })).toEqual([
      'system:serviceaccount:tranche-system:tranche',
    ])
  })

  it('let executors read the room on nodes only where the values say so, then in all namespaces', async () => {
    const ofRoom = (objects: readonly Rendered[]): readonly Rendered[] => objects.filter(({ metadata }) => metadata.name === 'tranche-room')
    const programsAsked = (objects: readonly Rendered[]): readonly string[] =>
      objects.flatMap((one) => (JSON.stringify(one).includes('"--room"') ? [one.metadata.name] : []))
    const without = await render({ fullnameOverride: 'tranche' })
    expect([ofRoom(without), programsAsked(without)]).toEqual([[], []])
    for (const [name, programs] of [
      ['two namespaces', ['tranche-controller', 'tranche-executor']],
      ['all-in-one', ['tranche']],
    ] as const) {
      const objects = await render({ ...choices[name], fullnameOverride: 'tranche', rbac: { room: true } })
      expect(programsAsked(objects)).toEqual(programs)
      const [role, binding, ...more] = ofRoom(objects)
      expect(role).toMatchObject({ kind: 'ClusterRole', rules: page.ClusterRole['tranche-room'] })
      expect(binding).toMatchObject({ kind: 'ClusterRoleBinding', roleRef: { kind: 'ClusterRole', name: 'tranche-room' } })
      expect(more).toEqual([])
    }
  })

  it('let the controller read ConfigMaps only where the values say so, and in the named namespaces alone', async () => {
    const ofConfig = (objects: readonly Rendered[]): readonly Rendered[] =>
      objects.filter(({ metadata }) => metadata.name === 'tranche-config')
    const isAsked = (objects: readonly Rendered[]): boolean => JSON.stringify(objects).includes('"--read-config"')
    const none = await render({ fullnameOverride: 'tranche' })
    expect([ofConfig(none), isAsked(none)]).toEqual([[], false])
    for (const [name, kinds] of [
      ['two namespaces', ['ClusterRole', 'RoleBinding agents', 'RoleBinding network']],
      ['all-in-one', ['ClusterRole', 'ClusterRoleBinding']],
    ] as const) {
      const objects = await render({ ...choices[name], fullnameOverride: 'tranche', rbac: { config: true } })
      expect(ofConfig(objects).map(({ kind, metadata }) => [kind, metadata.namespace].filter(Boolean).join(' '))).toEqual(kinds)
      expect(ofConfig(objects)[0]).toMatchObject({ rules: page.ClusterRole['tranche-config'] })
      expect(isAsked(objects)).toBe(true)
    }
  })

  it('let executors create helper pods only where the values say so, in the namespaces that they watch', async () => {
    const rights = (objects: readonly Rendered[]): readonly unknown[] =>
      objects.filter(({ metadata }) => metadata.name === 'tranche-pre-pull').map(({ kind, metadata }) => [kind, metadata.namespace])
    const args = (objects: readonly Rendered[]): boolean => JSON.stringify(objects).includes('--pre-pull')
    const without = await render({ fullnameOverride: 'tranche' })
    expect([rights(without), args(without)]).toEqual([[], false])
    const everywhere = await render({ fullnameOverride: 'tranche', rbac: { prePull: true } })
    expect([rights(everywhere), args(everywhere)]).toEqual([
      [
        ['ClusterRole', undefined],
        ['ClusterRoleBinding', undefined],
      ],
      true,
    ])
    const scoped = await render({ ...choices['two namespaces'], fullnameOverride: 'tranche', rbac: { prePull: true } })
    expect(rights(scoped).toSorted()).toEqual(
      ['Role', 'RoleBinding'].flatMap((kind) => [
        [kind, 'agents'],
        [kind, 'network'],
      ]),
    )
  })

  it('let the controller hold Leases of groups only where the values say so, in the namespace of the installation', async () => {
    const ofGroups = (objects: readonly Rendered[]): readonly Rendered[] =>
      objects.filter(({ metadata }) => metadata.name === 'tranche-groups')
    expect(ofGroups(await render({ fullnameOverride: 'tranche' }))).toEqual([])
    for (const name of ['two namespaces', 'all-in-one']) {
      const objects = await render({
        ...choices[name],
        fullnameOverride: 'tranche',
        rbac: { groups: true, sharedGroupNamespaces: ['demo'] },
      })
      const [role, binding, ...more] = ofGroups(objects)
      expect(role).toMatchObject({ kind: 'Role', metadata: { namespace: 'tranche-system' }, rules: page.Role['tranche-groups'] })
      expect(binding).toMatchObject({ kind: 'RoleBinding', roleRef: { kind: 'Role', name: 'tranche-groups' } })
      expect(more).toEqual([])
      expect(JSON.stringify(objects)).toContain('"--group-namespace=tranche-system","--shared-group-namespace=demo"')
    }
  })

  it('let executors drain nodes only for the namespaces that the values list, and let the controller know them', async () => {
    const ofDrain = (objects: readonly Rendered[]): readonly Rendered[] =>
      objects.filter(({ metadata }) => metadata.name === 'tranche-drain')
    expect(ofDrain(await render({ fullnameOverride: 'tranche' }))).toEqual([])
    for (const [name, programs] of programsOf) {
      const values = { ...choices[name], fullnameOverride: 'tranche', rbac: { drain: { namespaces: ['gpu-operator', '*'] } } }
      const objects = await render(values)
      const [role, binding, ...more] = ofDrain(objects)
      expect(role).toMatchObject({ kind: 'ClusterRole', rules: page.ClusterRole['tranche-drain'] })
      expect(binding).toMatchObject({ kind: 'ClusterRoleBinding', roleRef: { kind: 'ClusterRole', name: 'tranche-drain' } })
      expect(more).toEqual([])
      const text = JSON.stringify(objects)
      for (const argument of ['--drain-namespace=gpu-operator', '--drain-namespace=*'])
        expect(text.split(argument)).toHaveLength(1 + programs)
    }
  })

  it('let executors set conditions of drained nodes only if the values say so, and some policy may drain nodes', async () => {
    const ofConditions = (objects: readonly Rendered[]): readonly Rendered[] =>
      objects.filter(({ metadata }) => metadata.name === 'tranche-drain-conditions')
    const namespaces = ['gpu-operator']
    expect(ofConditions(await render({ fullnameOverride: 'tranche', rbac: { drain: { namespaces } } }))).toEqual([])
    for (const name of ['two namespaces', 'all-in-one']) {
      const objects = await render({ ...choices[name], fullnameOverride: 'tranche', rbac: { drain: { namespaces, conditions: true } } })
      const [role, binding, ...more] = ofConditions(objects)
      expect(role).toMatchObject({ kind: 'ClusterRole', rules: page.ClusterRole['tranche-drain-conditions'] })
      expect(binding).toMatchObject({ kind: 'ClusterRoleBinding', roleRef: { kind: 'ClusterRole', name: 'tranche-drain-conditions' } })
      expect(more).toEqual([])
      expect(JSON.stringify(objects).split('--drain-conditions')).toHaveLength(2)
    }
  })

  it('let executors lock nodes only for the namespaces that the values list, with rights in the namespace of the Leases', async () => {
    const ofLocks = (objects: readonly Rendered[]): readonly Rendered[] =>
      objects.filter(({ metadata }) => metadata.name === 'tranche-node-locks')
    expect(ofLocks(await render({ fullnameOverride: 'tranche' }))).toEqual([])
    for (const [name, programs] of programsOf) {
      const nodeLocks = { namespaces: ['gpu-operator', '*'], leaseNamespace: 'leases' }
      const objects = await render({ ...choices[name], fullnameOverride: 'tranche', rbac: { nodeLocks } })
      const [role, binding, ...more] = ofLocks(objects)
      expect(role).toMatchObject({ kind: 'Role', metadata: { namespace: 'leases' }, rules: page.Role['tranche-node-locks'] })
      expect(binding).toMatchObject({ kind: 'RoleBinding', metadata: { namespace: 'leases' }, roleRef: { kind: 'Role' } })
      expect(more).toEqual([])
      const text = JSON.stringify(objects)
      for (const argument of ['--lock-namespace=gpu-operator', '--lock-namespace=*'])
        expect(text.split(argument)).toHaveLength(1 + programs)
      expect(text.split('--lock-lease-namespace=leases')).toHaveLength(2)
    }
  })

  it('let executors remember downtime only where the values say so, in the namespace of the installation', async () => {
    const ofDowntime = (objects: readonly Rendered[]): readonly Rendered[] =>
      objects.filter(({ metadata }) => metadata.name === 'tranche-downtime')
    expect(ofDowntime(await render({ fullnameOverride: 'tranche' }))).toEqual([])
    for (const name of ['two namespaces', 'all-in-one']) {
      const objects = await render({ ...choices[name], fullnameOverride: 'tranche', rbac: { downtime: true } })
      const [role, binding, ...more] = ofDowntime(objects)
      expect(role).toMatchObject({ kind: 'Role', metadata: { namespace: 'tranche-system' }, rules: page.Role['tranche-downtime'] })
      expect(binding).toMatchObject({ kind: 'RoleBinding', roleRef: { kind: 'Role', name: 'tranche-downtime' } })
      expect(more).toEqual([])
      const processes = name === 'all-in-one' ? 1 : 2
      expect(JSON.stringify(objects).split('--downtime-namespace=tranche-system')).toHaveLength(1 + processes)
    }
  })

  it('let the controller copy ConfigMaps, and change pods, only where the values say so', async () => {
    const named = (objects: readonly Rendered[], name: string): readonly string[] =>
      objects.filter(({ metadata }) => metadata.name === name).map(({ kind }) => kind)
    const none = await render({ fullnameOverride: 'tranche', admission: 'policy' })
    expect(['tranche-pods', 'tranche-config-pin', 'tranche-pod-policy'].flatMap((name) => named(none, name))).toEqual([])
    const some = await render({ fullnameOverride: 'tranche', admission: 'none', rbac: { configPin: true } })
    expect(named(some, 'tranche-pods')).toEqual(['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'])
    expect(named(some, 'tranche-config-pin')).toEqual(['ClusterRole', 'ClusterRoleBinding'])
    expect(JSON.stringify(some)).toContain('"--pin-config","--pod-policy=tranche-pods"')
    expect(JSON.stringify(some)).not.toMatch(/secret-pin|pin-secret-namespace/)
  })

  it('let the controller watch the policy for pods by its name, in the whole cluster', async () => {
    const objects = await render({ fullnameOverride: 'agents', scope: { namespaces: ['gpu'] }, rbac: { configPin: true } })
    const own = objects.filter(({ metadata }) => metadata.name === 'agents-pod-policy')
    expect(own.map(({ kind }) => kind)).toEqual(['ClusterRole', 'ClusterRoleBinding'])
    const rules = chartRules().ClusterRole['tranche-pod-policy'] ?? []
    expect(own[0]?.rules).toEqual(rules.map((rule) => ({ ...rule, resourceNames: ['agents-pods'] })))
    expect(JSON.stringify(objects)).toContain('"--pod-policy=agents-pods"')
  })

  it.each<[sentence: string, namespaces: readonly string[], scope: readonly string[], bindings: readonly (readonly string[])[]]>([
    [
      'in the namespaces that are listed',
      ['gpu', 'net'],
      [],
      [
        ['RoleBinding', 'gpu'],
        ['RoleBinding', 'net'],
      ],
    ],
    ['in those alone, whatever the scope', ['gpu'], ['gpu', 'demo'], [['RoleBinding', 'gpu']]],
    ['everywhere, where all are', ['*'], [], [['ClusterRoleBinding', '']]],
    [
      'in the scope, where all are',
      ['*'],
      ['gpu', 'demo'],
      [
        ['RoleBinding', 'gpu'],
        ['RoleBinding', 'demo'],
      ],
    ],
  ])('let the controller write Secrets %s', async (_sentence, pinSecretNamespaces, namespaces, bindings) => {
    const objects = await render({ fullnameOverride: 'tranche', scope: { namespaces }, rbac: { configPin: true, pinSecretNamespaces } })
    const own = objects.filter(({ metadata }) => metadata.name === 'tranche-secret-pin')
    expect(own.map(({ kind, metadata }) => [kind, metadata.namespace ?? ''])).toEqual([['ClusterRole', ''], ...bindings])
    expect(own[0]?.rules).toEqual(chartRules().ClusterRole['tranche-secret-pin'])
    const isReader = (rules: readonly unknown[] = []): boolean => JSON.stringify(rules).includes('"secrets"')
    expect(objects.filter(({ rules }) => isReader(rules)).map(({ metadata }) => metadata.name)).toEqual(['tranche-secret-pin'])
    for (const namespace of pinSecretNamespaces) expect(JSON.stringify(objects)).toContain(`"--pin-secret-namespace=${namespace}"`)
  })

  it('allow reading Secrets only by name, in the named namespaces', async () => {
    const rights = (objects: readonly Rendered[]): readonly unknown[] =>
      objects
        .filter(({ rules }) => JSON.stringify(rules ?? []).includes('"secrets"'))
        .map(({ kind, metadata, rules }) => [kind, metadata.namespace, rules])
    const toGet = (...resourceNames: readonly string[]): readonly unknown[] => [
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames },
    ]
    // Those that pin Secrets are bound in the namespaces whose Secrets they pin.
    const every = choices['every option']!
    const rbac = { ...(every['rbac'] as object), pinSecretNamespaces: [] }
    expect(rights(await render({ ...every, rbac }))).toEqual([
      ['Role', 'monitoring-agents', toGet('prometheus', 'slack')],
      ['Role', 'demo', toGet('ci')],
    ])
    expect(rights(await render({}))).toEqual([])
    const ofWebhook = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'patch'], resourceNames: ['tranche-webhook'] }]
    expect(rights(await render(choices['a webhook']!))).toEqual([['Role', 'tranche-system', ofWebhook]])
    expect(rights(await render(choices['a webhook by cert-manager']!))).toEqual([])
  })

  it.each(names)('are granted only to the accounts of the pods: %s', async (name) => {
    const objects = await render(choices[name]!)
    const pods = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'Pod')
    const accounts = new Set(pods.map((one) => podOf(one).serviceAccountName))
    const subjects = objects
      .filter(({ kind }) => kind.endsWith('RoleBinding'))
      .flatMap((binding) => (binding as unknown as { readonly subjects: readonly { readonly name: string }[] }).subjects)
    const reader = (choices[name]!['metrics'] as { readonly reader?: { readonly name: string } } | undefined)?.reader?.name
    expect(subjects.map((subject) => subject.name).filter((subject) => !accounts.has(subject) && subject !== reader)).toEqual([])
  })
})

describe.skipIf(programs === null)('the pods of the chart', () => {
  it.each(names)('keep the Pod Security Standard `restricted`: %s', async (name) => {
    const pods = (await render(choices[name]!)).filter(({ kind }) => kind === 'Deployment' || kind === 'Pod').map(podOf)
    for (const { securityContext, containers, volumes, ...rest } of pods) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      expect(securityContext['runAsUser']).not.toBe(0)
      for (const container of containers)
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
      const allowed = ['configMap', 'emptyDir', 'secret']
      expect(volumes.flatMap((volume) => Object.keys(volume)).filter((key) => key !== 'name' && !allowed.includes(key))).toEqual([])
      expect(rest).not.toHaveProperty('hostNetwork')
      expect(rest).not.toHaveProperty('hostPID')
    }
  })

  it.each(names)('limit the resources of each container: %s', async (name) => {
    const pods = (await render(choices[name]!)).filter(({ kind }) => kind === 'Deployment' || kind === 'Pod').map(podOf)
    for (const { resources } of pods.flatMap(({ containers }) => containers)) {
      expect(Object.keys(resources?.requests ?? {}).toSorted()).toEqual(['cpu', 'ephemeral-storage', 'memory'])
      expect(Object.keys(resources?.limits ?? {}).toSorted()).toEqual(['ephemeral-storage', 'memory'])
    }
  })

  it('read a password of Redis from a file, which is reloaded, and never from the command line', async () => {
    const [controller] = deploymentsOf(await render(choices['every option']!)).filter(
      ({ metadata }) => metadata.name === 'rollouts-controller',
    )
    const { containers, volumes } = podOf(controller!)
    expect(containers[0]?.args).toContain('--redis-password-file=/etc/tranche/redis/password')
    expect(volumes).toContainEqual(expect.objectContaining({ secret: expect.objectContaining({ secretName: 'redis' }) }))
  })

  it('have a disruption budget exactly if there are several replicas', async () => {
    const budgets = async (values: Values): Promise<readonly string[]> =>
      (await render(values)).filter(({ kind }) => kind === 'PodDisruptionBudget').map(({ metadata }) => metadata.name)
    expect(await budgets({})).toEqual([])
    expect(await budgets(choices['distributed']!)).toEqual(['tranche-api', 'tranche-controller', 'tranche-executor'])
    expect(await budgets({ allInOne: { replicas: 2 } })).toEqual(['tranche'])
  })
})

interface Resources {
  readonly requests?: Readonly<Record<string, string>>
  readonly limits?: Readonly<Record<string, string>>
}

interface PodSpec {
  readonly serviceAccountName: string
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly containers: readonly { readonly args: readonly string[]; readonly securityContext: object; readonly resources?: Resources }[]
  readonly volumes: readonly Readonly<Record<string, unknown>>[]
}

function deploymentsOf(objects: readonly Rendered[]): readonly Rendered[] {
  return objects.filter(({ kind }) => kind === 'Deployment')
}

function podOf({ kind, spec }: Rendered): PodSpec {
  return kind === 'Pod'
    ? (spec as unknown as PodSpec)
    : (spec as unknown as { readonly template: { readonly spec: PodSpec } }).template.spec
}

describe.skipIf(programs === null)('the separation of installations by the chart', () => {
  interface Peers {
    readonly egress: readonly { readonly ports: readonly { readonly port: number }[] | null }[]
  }

  it('limits policies of an installation to its namespaces', async () => {
    const scoped = await render({ admission: 'policy', scope: { namespaces: ['agents'] } })
    const selectors = (objects: readonly Rendered[]): readonly unknown[] =>
      objects
        .filter(({ kind, metadata }) => kind.endsWith('AdmissionPolicyBinding') && !metadata.name.endsWith('-definitions'))
        .map(
          ({ spec }) => (spec as { readonly matchResources?: { readonly namespaceSelector?: object } }).matchResources?.namespaceSelector,
        )
    const isAgents = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['agents'] }] }
    expect(selectors(scoped)).toHaveLength(5)
    expect(selectors(scoped)).toEqual(Array.from({ length: 5 }, () => isAgents))
    expect(selectors(await render({ admission: 'policy' }))).toEqual(Array.from({ length: 5 }, () => undefined))
  })

  it('creates one Role per namespace for all its named Secrets, in any number of entries', async () => {
    const entry = (names: readonly string[]): object => ({ namespace: 'demo', names })
    const objects = await render({
      rbac: { policySecrets: [entry(['a', 'b']), entry(['b', 'c']), { namespace: 'other', names: ['d'] }] },
      api: { hooks: { enabled: true, secrets: [entry(['ci']), entry(['cd'])] } },
    })
    const granted = objects
      .filter(({ kind, metadata }) => kind === 'Role' && /-(secrets|hooks)$/.test(metadata.name))
      .map(({ metadata, rules }) => [
        metadata.name,
        metadata.namespace,
        (rules?.[0] as { readonly resourceNames: unknown } | undefined)?.resourceNames,
      ])
    expect(granted).toEqual([
      ['tranche-secrets', 'demo', ['a', 'b', 'c']],
      ['tranche-secrets', 'other', ['d']],
      ['tranche-hooks', 'demo', ['ci', 'cd']],
    ])
  })

  it.each(Object.entries(choices))(
    'has no two objects of one kind and name, and no rule that opens everything: %s',
    async (_name, values) => {
      const objects = await render(values)
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`)
      expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
      const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy')
      const open = policies.flatMap(({ spec }) => (spec as unknown as Peers).egress).filter((rule) => rule.ports === null)
      expect(open).toEqual([])
    },
  )

  it('allows the REST API to reach the port of its OpenID provider', async () => {
    const [policy] = (await render(choices['every option']!)).filter(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name.endsWith('-api'),
    )
    const ports = (policy?.spec as unknown as Peers | undefined)?.egress.flatMap((rule) => rule.ports?.map(({ port }) => port) ?? [])
    expect(ports).toContain(8444)
  })
})

import { chartRules } from '../../../../scripts/chart-rules.ts'
import { describe, expect, it } from 'vitest'
import { neededRights, readAccounts } from '../src/signs/account-signs.ts'
import type { InstalledPod } from '../src/signs/installed-signs.ts'

const page = chartRules()

function rights(component: InstalledPod['component'], ...args: readonly string[]): readonly string[] {
  const pod = { component, args, namespace: 'tranche-system', account: 'tranche', version: null, isReady: true, redis: null }
  return neededRights(pod).map(({ verb, group, resource, name, namespace }) =>
    [verb, `${group}/${resource}`, name, namespace].filter(Boolean).join(' '),
  )
}

/** Of rules in docs/operations/permissions.md. */
function granted(rules: (typeof page.Role)[string] | undefined, ...where: readonly string[]): readonly string[] {
  return (rules ?? []).flatMap(({ apiGroups = [], resources = [], verbs = [], resourceNames = [''] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) => verbs.map((verb) => [verb, `${group}/${resource}`, name, ...where].filter(Boolean).join(' '))),
      ),
    ),
  )
}

describe('the permissions that doctor checks', () => {
  const { ClusterRole, Role } = page
  const lease = granted(Role['tranche-controller'], 'kube-system')
  const pins = [...granted(ClusterRole['tranche-config-pin']), ...granted(ClusterRole['tranche-pod-policy'])]

  it.each([
    ['controller', ['--read-config'], [...granted(ClusterRole['tranche-controller']), ...lease, ...granted(ClusterRole['tranche-config'])]],
    ['controller', ['--pin-config'], [...granted(ClusterRole['tranche-controller']), ...lease, ...pins]],
    [
      'controller',
      ['--pin-config', '--pod-policy=agents-pods'],
      [...[...granted(ClusterRole['tranche-controller']), ...lease, ...pins].map((right) => right.replace('tranche-pods', 'agents-pods'))],
    ],
    [
      'controller',
      ['--pin-config', '--pin-secret-namespace=gpu'],
      [
        ...[...granted(ClusterRole['tranche-controller']), ...lease, ...pins],
        ...granted(ClusterRole['tranche-secret-pin']).map((right) => `${right} gpu`),
      ],
    ],
    [
      'controller',
      ['--pin-config', '--pin-secret-namespace=*'],
      [...[...granted(ClusterRole['tranche-controller']), ...lease, ...pins], ...granted(ClusterRole['tranche-secret-pin'])],
    ],
    ['executor', [], granted(ClusterRole['tranche-executor'])],
    [
      'executor',
      ['--watch-namespace=gpu', '--drain-namespace=gpu'],
      [
        ...granted(ClusterRole['tranche-executor']).map((right) => (right.endsWith(' /nodes') ? right : `${right} gpu`)),
        ...granted(ClusterRole['tranche-drain']),
      ],
    ],
    [
      'executor',
      ['--drain-namespace=*', '--drain-conditions'],
      [
        ...granted(ClusterRole['tranche-executor']),
        ...granted(ClusterRole['tranche-drain']),
        ...granted(ClusterRole['tranche-drain-conditions']),
      ],
    ],
    [
      'executor',
      ['--lock-namespace=gpu', '--lock-lease-namespace=leases'],
      [...granted(ClusterRole['tranche-executor']), ...granted(Role['tranche-node-locks'], 'leases')],
    ],
    [
      'executor',
      ['--lock-namespace=*'],
      [...granted(ClusterRole['tranche-executor']), ...granted(Role['tranche-node-locks'], 'medik8s-leases')],
    ],
    [
      'executor',
      ['--watch-namespace=gpu', '--room'],
      [
        ...granted(ClusterRole['tranche-executor']).map((right) => (right.endsWith(' /nodes') ? right : `${right} gpu`)),
        ...granted(ClusterRole['tranche-room']),
      ],
    ],
    ['executor', ['--pre-pull'], [...granted(ClusterRole['tranche-executor']), ...granted(ClusterRole['tranche-pre-pull'])]],
    ['api', [], granted(ClusterRole['tranche-api'])],
    ['controller', ['--admission=none'], [...granted(ClusterRole['tranche-controller']), ...lease]],
    [
      'controller',
      ['--admission=webhook', '--webhook-secret=tranche-system/tranche-webhook', '--webhook-configuration=tranche'],
      [
        ...granted(ClusterRole['tranche-controller']),
        ...lease,
        ...granted(ClusterRole['tranche-admission']),
        ...granted(ClusterRole['tranche-webhook']),
        ...granted(Role['tranche-webhook'], 'tranche-system'),
      ],
    ],
    [
      'all-in-one',
      ['--api-port=8080'],
      [
        ...granted(ClusterRole['tranche-controller']),
        ...lease,
        ...granted(ClusterRole['tranche-executor']),
        ...granted(ClusterRole['tranche-api']),
      ],
    ],
    ['all-in-one', [], [...granted(ClusterRole['tranche-controller']), ...lease, ...granted(ClusterRole['tranche-executor'])]],
  ] as const)('are those of docs/operations/permissions.md: %s %j', (component, args, expected) => {
    expect(rights(component, ...args).toSorted()).toEqual(expected.toSorted())
  })

  it('cover the watched namespaces, cluster-scoped resources, and the namespace of the Lease', () => {
    const asked = rights('controller', '--watch-namespace=a', '--watch-namespace=b', '--lease-namespace=leases')
    expect(asked).toEqual(expect.arrayContaining(['list /nodes', 'patch apps/daemonsets a', 'patch apps/daemonsets b']))
    expect(asked.filter((right) => right.includes('/leases'))).toEqual([
      'list coordination.k8s.io/leases 71ddec2c.kruise.io',
      'watch coordination.k8s.io/leases 71ddec2c.kruise.io',
      ...granted(Role['tranche-controller'], 'leases'),
    ])
    expect(asked).not.toContain('patch apps/daemonsets')
  })

  it('cover the Leases that remember downtime where policies may limit it', () => {
    const asked = rights('executor', '--downtime-namespace=tranche-system')
    const downtime = granted(Role['tranche-downtime'], 'tranche-system')
    expect(asked.toSorted()).toEqual([...granted(ClusterRole['tranche-executor']), ...downtime].toSorted())
  })

  it('cover the Leases of groups where policies may name groups', () => {
    const asked = rights('controller', '--group-namespace=tranche-system', '--shared-group-namespace=demo')
    const groups = granted(Role['tranche-groups'], 'tranche-system')
    expect(asked.toSorted()).toEqual([...granted(ClusterRole['tranche-controller']), ...lease, ...groups].toSorted())
  })

  it('are those of a watched namespace once, however often a pod repeats it, and of no text that names none', () => {
    const once = rights('executor', '--watch-namespace=a')
    const invalid = ['', 'A', 'a b', '-a', 'a'.repeat(64), 'x'.repeat(60_000)].map((text) => `--watch-namespace=${text}`)
    expect(rights('executor', ...Array.from({ length: 3_000 }, () => '--watch-namespace=a'), ...invalid)).toEqual(once)
  })

  it('are not computed for more namespaces than can be checked', async () => {
    const args = Array.from({ length: 1_001 }, (_, at) => `--watch-namespace=n${at}`)
    const pod = { component: 'api', args, namespace: 'demo', account: 'tranche', version: null, isReady: true, redis: null } as const
    await expect(readAccounts({} as never, [pod])).resolves.toEqual({ tooMany: 10_000 })
  })
})

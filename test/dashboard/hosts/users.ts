import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { AGENTS } from '../agent-objects.ts'
import type { DevStage } from '../dev-stage.ts'

/** Creates a user with roles of the chart in the namespace of the agents, and no right on the cluster. @returns its token */
export function tokenWithRoles(stage: DevStage, name: string, roles: readonly string[]): string {
  const { ClusterRole: rules } = parse(readFileSync('charts/tranche/files/rules.yaml', 'utf8')) as { ClusterRole: Record<string, object[]> }
  const metadata = { namespace: AGENTS, name }
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  stage.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  for (const role of roles)
    stage.apply(
      { apiVersion, kind: 'Role', metadata: { namespace: AGENTS, name: `${name}-${role}` }, rules: rules[role] },
      {
        apiVersion,
        kind: 'RoleBinding',
        metadata: { namespace: AGENTS, name: `${name}-${role}` },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: `${name}-${role}` },
        subjects: [{ kind: 'ServiceAccount', namespace: AGENTS, name }],
      },
    )
  return stage.kubectl('-n', AGENTS, 'create', 'token', name).trim()
}

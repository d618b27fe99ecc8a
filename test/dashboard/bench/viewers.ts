import type { KubeClient, ResourcePath } from '../../../packages/adapters/kube-client/src/index.ts'
import { bodyText, type Exchange } from '../../../packages/words/wire/src/index.ts'
import { NAMESPACE } from './large-fleet.ts'

/** Number of users. A request limit of the API counts per user. */
const VIEWERS = 20
const RBAC = 'rbac.authorization.k8s.io'

/** Creates users who may read everything. @returns a token of each */
export async function createViewers(client: KubeClient, exchange: Exchange): Promise<readonly string[]> {
  const names = Array.from({ length: VIEWERS }, (_none, index) => `viewer-${index}`)
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }]
  await client.create(rbac('clusterroles'), { metadata: { name: 'bench-viewer' }, rules } as never)
  await client.create(rbac('clusterrolebindings'), {
    metadata: { name: 'bench-viewer' },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'bench-viewer' },
    subjects: names.map((name) => ({ kind: 'ServiceAccount', namespace: NAMESPACE, name })),
  } as never)
  return Promise.all(
    names.map(async (name) => {
      await client.create({ group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true }, {
        metadata: { name, namespace: NAMESPACE },
      } as never)
      return tokenOf(exchange, name)
    }),
  )
}

function rbac(plural: string): ResourcePath {
  return { group: RBAC, version: 'v1', plural, namespaced: false }
}

/** @see authentication/v1 TokenRequest */
async function tokenOf(exchange: Exchange, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${name}/token`
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} })
  const headers = { accept: 'application/json', 'content-type': 'application/json' }
  const answer = await exchange({ method: 'POST', path, headers, body }, AbortSignal.timeout(15_000))
  const said = await bodyText(answer)
  if (answer.status !== 201) throw new Error(`POST ${path} was answered with ${answer.status}: ${said}`)
  return (JSON.parse(said) as { readonly status: { readonly token: string } }).status.token
}

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HttpsServer, listen, resources } from '@tranche/sim-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kubectlForTests } from '../../../../../scripts/kubectl-for-tests.ts'
import { setUpNow } from './testing.ts'

const hasKubectl = kubectlForTests()

let server: HttpsServer
let folder: string

beforeAll(async () => {
  const { server: apiServer, front } = setUpNow()
  server = await listen(front, { port: 0 })
  folder = mkdtempSync(join(tmpdir(), 'kubectl-'))
  writeFileSync(join(folder, 'ca.pem'), server.caCertificate)
  const client = apiServer.clientFor({ name: 'root' })
  const at = { name: 'reader', namespace: 'default' }
  const group = 'rbac.authorization.k8s.io'
  await client.create(resources.roles, {
    apiVersion: `${group}/v1`,
    kind: 'Role',
    metadata: at,
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }],
  })
  await client.create(resources.roleBindings, {
    apiVersion: `${group}/v1`,
    kind: 'RoleBinding',
    metadata: at,
    roleRef: { kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'User', name: 'jane' }],
  })
})

afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

function kubectl(line: string, token = 'root'): Promise<Ran> {
  const common = [
    `--server=${server.url}`,
    `--certificate-authority=${join(folder, 'ca.pem')}`,
    `--token=${token}`,
    `--cache-dir=${folder}`,
  ]
  const env = { ...process.env, HOME: folder, KUBECONFIG: join(folder, 'none') }
  return new Promise((resolve) => {
    execFile('kubectl', [...common, ...line.split(' ')], { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out: out.trim(), err: err.trim() }),
    )
  })
}

describe.skipIf(!hasKubectl)('kubectl', () => {
  it('auth can-i answers for the user and for others', async () => {
    const [own, others, no] = await Promise.all([
      kubectl('auth can-i delete nodes'),
      kubectl('auth can-i list pods --as jane'),
      kubectl('auth can-i delete pods --as jane'),
    ])
    expect([own, others, no]).toMatchObject([
      { code: 0, out: 'yes' },
      { code: 0, out: 'yes' },
      { code: 1, out: 'no' },
    ])
  })

  it('auth can-i --list shows the permissions of the user', async () => {
    const { out } = await kubectl('auth can-i --list', 'jane')
    expect(out).toMatch(/^pods +\[\] +\[\] +\[get list\]$/m)
    expect(out).toMatch(/^selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]$/m)
  })

  it('auth whoami shows the user', async () => {
    const { out } = await kubectl('auth whoami', 'jane')
    expect(out).toMatch(/Username +jane/)
    expect(out).toMatch(/Groups +\[team system:authenticated\]/)
  })

  it('create token issues a token of the account', async () => {
    const { out: token } = await kubectl('create token default')
    const { out } = await kubectl('auth whoami -o jsonpath={.status.userInfo.username}', token)
    expect(out).toBe('system:serviceaccount:default:default')
  })

  it('create makes roles and bindings, which take effect at once', async () => {
    const made = [
      await kubectl('create clusterrole node-reader --verb=get,list --resource=nodes'),
      await kubectl('create clusterrolebinding node-reader --clusterrole=node-reader --user=joe --serviceaccount=default:default'),
      await kubectl('create role leaser --verb=update --resource=leases.coordination.k8s.io'),
      await kubectl('create rolebinding leaser --role=leaser --group=team'),
    ]
    expect(made.map(({ code, err }) => [code, err])).toEqual(made.map(() => [0, '']))
    const asked = await Promise.all([kubectl('get nodes', 'joe'), kubectl('auth can-i update leases', 'jane')])
    expect(asked).toMatchObject([{ code: 0 }, { code: 0, out: 'yes' }])
  })

  it('reports forbidden requests as on a cluster', async () => {
    const { code, err } = await kubectl('get nodes --as jane --as-group team')
    expect(code).toBe(1)
    expect(err).toBe(
      'Error from server (Forbidden): nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope',
    )
  })
})

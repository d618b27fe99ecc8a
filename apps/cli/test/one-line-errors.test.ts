import { ApiProblemError } from '@tranche/api-client'
import { AppError } from '@tranche/errors'
import { KubeStatusError } from '@tranche/kube-client'
import { describe, expect, it } from 'vitest'
import { explained, explainedOfServer } from '../src/release-client/explain-error.ts'
import { runAlone } from './run-alone.ts'

const cluster = {
  server: 'https://10.0.0.1:6443',
  context: 'production',
  namespace: 'demo',
  credentials: async () => ({ headers: {} }),
}
const attempt = 'GET /apis/rollouts.kruise.io/v1beta1/namespaces/demo/rollouts'

describe('the error text at a terminal', () => {
  const cases: Record<string, { error: unknown; code: string; message: RegExp; hint: RegExp }> = {
    'a missing permission': {
      error: new KubeStatusError({ attempt, status: 403, reason: 'Forbidden', message: 'User "jane" cannot list resource "rollouts"' }),
      code: 'API_REFUSED',
      message:
        /^the API server https:\/\/10\.0\.0\.1:6443 \(context production\) answers 403 Forbidden: User "jane" cannot list resource "rollouts"$/,
      hint: /^Ask the cluster administrator for this permission/,
    },
    'rejected credentials': {
      error: new KubeStatusError({ attempt, status: 401, reason: 'Unauthorized' }),
      code: 'API_REFUSED',
      message: /answers 401 Unauthorized$/,
      hint: /^Log in again/,
    },
    'a cluster without Tranche': {
      error: new KubeStatusError({ attempt, status: 404, reason: 'NotFound', message: 'the server could not find the requested resource' }),
      code: 'API_REFUSED',
      message: /serves no Rollouts$/,
      hint: /tranche doctor shows what is missing\.$/,
    },
    'a cluster that does not answer': {
      error: new AppError('API_UNREACHABLE', 'GET /version got no answer: connect ECONNREFUSED 10.0.0.1:6443'),
      code: 'API_UNREACHABLE',
      message: /^the API server https:\/\/10\.0\.0\.1:6443 \(context production\) does not answer: .*ECONNREFUSED/,
      hint: /^Check that the cluster runs/,
    },
    'a certificate that is not trusted': {
      error: new AppError('API_UNREACHABLE', 'GET /version got no answer: certificate has expired', {
        cause: Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }),
      }),
      code: 'API_UNREACHABLE',
      message: /does not answer: .*certificate has expired$/,
      hint: /^Check the certificate of the API server: its expiry, its host names/,
    },
  }

  it.each(Object.entries(cases))('explains %s, with a hint', (_what, { error, code, message, hint }) => {
    expect(explained(error, cluster)).toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
      hint: expect.stringMatching(hint) as string,
    })
  })

  it('distinguishes a Kubernetes API server from the REST API', () => {
    const body = '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":404}'
    const error = new ApiProblemError('GET /api/v1/rollouts', { status: 404, body, retryAfter: null })
    expect(
      explainedOfServer(error, { kind: 'server', url: 'https://10.0.0.1:6443', token: undefined, tokenFile: undefined }),
    ).toMatchObject({
      code: 'API_REFUSED',
      message: 'https://10.0.0.1:6443 is a Kubernetes API server, but --server takes the Tranche REST API',
      hint: 'Leave --server out, and choose the cluster with --context, --cluster or --kubeconfig.',
    })
  })

  it('names the options of the command line for a missing token, not the header of the REST API', () => {
    const problem = { type: '/errors/TOKEN_INVALID', title: 'no', status: 401, code: 'TOKEN_INVALID', detail: 'no token' }
    const error = new ApiProblemError('GET /api/v1/rollouts', { status: 401, body: JSON.stringify(problem), retryAfter: null })
    const source = { kind: 'server', url: 'http://x', token: undefined, tokenFile: undefined } as const
    expect(explainedOfServer(error, source)).toMatchObject({
      code: 'TOKEN_INVALID',
      hint: 'Pass a token that the API server accepts with --token-file PATH or TRANCHE_TOKEN.',
    })
    expect(explainedOfServer(error, source)).toMatchObject({ message: 'the REST API http://x requires a token' })
    expect(explainedOfServer(error, { ...source, token: 't' })).toMatchObject({
      message: 'the REST API http://x does not accept the token',
    })
  })

  it('leaves self-explanatory errors unchanged', () => {
    const error = new AppError('MOVED_ON', 'step 1 is over')
    expect(explained(error, cluster)).toBe(error)
    expect(explainedOfServer(error, { kind: 'server', url: 'http://x', token: undefined, tokenFile: undefined })).toBe(error)
  })
})

describe('the exit code', () => {
  const cases: Record<string, { line: string; code: number; says: RegExp }> = {
    'of status is 4 if the command line is invalid': {
      line: 'status --timeout soon',
      code: 4,
      says: /^OPTION_INVALID: --timeout does not take "soon"\. [^\n]+\n$/,
    },
    'of status is 4 for an unknown option': { line: 'status --wat', code: 4, says: /unknown option '--wat'/ },
    'of status is 4 without a kubeconfig': {
      line: 'status x --kubeconfig /does/not/exist',
      code: 4,
      says: /^KUBECONFIG_INVALID: [^\n]+\n$/,
    },
    'of plan is 2 for a fault that is none': {
      line: 'plan --if explodes --kubeconfig /does/not/exist',
      code: 2,
      says: /^OPTION_INVALID: --if does not take "explodes"\. Write one of: NODE fails, [^\n]+\n$/,
    },
    'of get is 1 without a kubeconfig': { line: 'get x --kubeconfig /does/not/exist', code: 1, says: /^KUBECONFIG_INVALID: [^\n]+\n$/ },
    'of history is 1 without a kubeconfig, with each of its formats': {
      line: 'history x -o wide --kubeconfig /does/not/exist',
      code: 1,
      says: /^KUBECONFIG_INVALID: [^\n]+\n$/,
    },
    'is 1 if no REST API answers': {
      line: 'list --server http://127.0.0.1:2',
      code: 1,
      says: /^API_UNREACHABLE: the REST API http:\/\/127\.0\.0\.1:2 does not answer: [^\n]+\n$/,
    },
    'is 2 for two ways to connect': {
      line: 'list --server http://127.0.0.1:2 --context x',
      code: 2,
      says: /^OPTION_INVALID: --context cannot be combined with --server\. [^\n]+\n$/,
    },
    'is 2 for an impersonated user with a REST API, whose token names the user': {
      line: '--as jane list --server http://127.0.0.1:2',
      code: 2,
      says: /^OPTION_INVALID: --as cannot be combined with --server\. Leave it out: for the REST API, the token identifies the user\.\n$/,
    },
    'is 2 for groups without a user': {
      line: 'list --as-group ops',
      code: 2,
      says: /^OPTION_INVALID: --as-group requires --as\. [^\n]+\n$/,
    },
    'is 2 for labels with a REST API': {
      line: 'list -l a=b --server http://127.0.0.1:2',
      code: 2,
      says: /^OPTION_INVALID: --selector is not supported by the REST API\. [^\n]+\n$/,
    },
    'is 2 for options without a command': {
      line: '-n demo',
      code: 2,
      says: /^OPTION_INVALID: -n is not followed by a command\. Add one, such as tranche -n demo list\.\n$/,
    },
    'is 2 for an option before a command that lacks it': {
      line: '-n demo version',
      code: 2,
      says: /^OPTION_INVALID: unknown option '-n'\. Try tranche version --help\.\n$/,
    },
    'of status is 4 with options before it, too': { line: '-n demo status --wat', code: 4, says: /unknown option '--wat'/ },
    'is 2 for an action without a name': { line: 'abort', code: 2, says: /missing required argument 'rollout'/ },
    'is 2 for a jump without a target': { line: 'jump x --step 0', code: 2, says: /^OPTION_INVALID: --step does not take "0"\. [^\n]+\n$/ },
  }

  it.each(Object.entries(cases))('%s', async (_what, { line, code, says }) => {
    let err = ''
    const io = { out: { write: () => {} }, err: { write: (text: string) => void (err += text) }, env: {} }
    await expect(runAlone(line.split(' '), io)).resolves.toBe(code)
    expect(err).toMatch(says)
  })

  it('comes with an error that wraps on a terminal', async () => {
    let err = ''
    const terminal = { write: (text: string) => void (err += text), isTTY: true, columns: 40 }
    await expect(runAlone(['list', '--unheard-of-option'], { out: { write: () => {} }, err: terminal, env: {} })).resolves.toBe(2)
    expect(err).toBe("OPTION_INVALID: unknown option\n  '--unheard-of-option'. Try tranche\n  list --help.\n")
  })

  it('comes with the closest command for a misspelled one', async () => {
    let err = ''
    await runAlone(['aprove'], { out: { write: () => {} }, err: { write: (text: string) => void (err += text) }, env: {} })
    expect(err).toContain('Did you mean approve?')
  })
})

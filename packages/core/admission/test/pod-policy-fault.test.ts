import { describe, expect, it } from 'vitest'
import { podPolicy } from '../src/policies/pod-policy.ts'
import { podPolicyFault } from '../src/policies/pod-policy-fault.ts'

const [policy, binding] = podPolicy as readonly { readonly spec: Readonly<Record<string, unknown>> }[]
const installed = { spec: { ...binding!.spec, policyName: 'tranche-pods' } }

describe('the policy for pods names copies', () => {
  it.each<[sentence: string, policy: object, binding: object]>([
    ['as this version writes it', policy!, installed],
    [
      'with the defaults of an API server',
      withDefaults(),
      withMatch({ matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} }),
    ],
    ['with a binding of the namespaces of the chart', policy!, withMatch(inNamespaces('In', ['demo', 'other']))],
    ['with a binding that leaves out another namespace', policy!, withMatch(inNamespaces('NotIn', ['other']))],
  ])('%s', (_sentence, ofPolicy, ofBinding) => {
    expect(podPolicyFault({ name: 'tranche-pods', policy: ofPolicy, binding: ofBinding }, 'demo')).toBeNull()
  })
})

describe('the policy for pods names no copies', () => {
  it.each<[sentence: string, policy: object | undefined, binding: object | undefined, fault: RegExp]>([
    ['without the policy', undefined, installed, /^there is no MutatingAdmissionPolicy tranche-pods$/],
    ['without the binding', policy, undefined, /^there is no MutatingAdmissionPolicyBinding tranche-pods$/],
    [
      'if its failures are ignored',
      withSpec({ failurePolicy: 'Ignore' }),
      installed,
      /^spec\.failurePolicy of the MutatingAdmissionPolicy/,
    ],
    ['if it matches other pods', withSpec({ matchConditions: [] }), installed, /^spec\.matchConditions/],
    [
      'if it leaves out objects',
      withSpec({ matchConstraints: { objectSelector: { matchLabels: { a: 'b' } } } }),
      installed,
      /^spec\.matchConstraints/,
    ],
    ['if it has parameters', withSpec({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }), installed, /^spec\.paramKind/],
    ['if it replaces other names', withSpec({ mutations: [] }), installed, /^spec\.mutations/],
    ['if it is not invoked again', withSpec({ reinvocationPolicy: 'Never' }), installed, /^spec\.reinvocationPolicy/],
    ['if the binding is of another policy', policy, binding, /^spec\.policyName of the MutatingAdmissionPolicyBinding/],
    ['if the binding has parameters', policy, { spec: { ...installed.spec, paramRef: { name: 'a' } } }, /^spec\.paramRef/],
    ['if the binding lists other namespaces', policy, withMatch(inNamespaces('In', ['other'])), /leaves out namespace demo$/],
    ['if the binding leaves the namespace out', policy, withMatch(inNamespaces('NotIn', ['demo'])), /leaves out namespace demo$/],
    ['if the binding selects namespaces by a label', policy, withMatch({ namespaceSelector: { matchLabels: { a: 'b' } } }), /leaves out/],
    ['if the binding selects objects', policy, withMatch({ objectSelector: { matchLabels: { a: 'b' } } }), /leaves out/],
    ['if the binding excludes rules', policy, withMatch({ excludeResourceRules: [{ resources: ['pods'] }] }), /leaves out/],
  ])('%s', (_sentence, ofPolicy, ofBinding, fault) => {
    expect(podPolicyFault({ name: 'tranche-pods', policy: ofPolicy, binding: ofBinding }, 'demo')).toMatch(fault)
  })
})

it('no namespace is left out where none is asked about', () => {
  const ofBinding = withMatch(inNamespaces('In', ['other']))
  expect(podPolicyFault({ name: 'tranche-pods', policy, binding: ofBinding }, null)).toBeNull()
})

function withSpec(change: object): object {
  return { spec: { ...policy!.spec, ...change } }
}

function withDefaults(): object {
  const { matchConstraints, ...spec } = policy!.spec as { readonly matchConstraints: { readonly resourceRules: readonly object[] } }
  const resourceRules = matchConstraints.resourceRules.map((rule) => ({ ...rule, scope: '*' }))
  return { spec: { ...spec, matchConstraints: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, resourceRules } } }
}

function withMatch(matchResources: object): object {
  return { spec: { ...installed.spec, matchResources } }
}

function inNamespaces(operator: string, values: readonly string[]): object {
  return { namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator, values }] } }
}

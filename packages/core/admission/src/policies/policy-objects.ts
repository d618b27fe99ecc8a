/** A CEL rule that must be true, and the message when it is not. */
export interface Validation {
  readonly expression: string
  readonly message: string
  /** CEL expression for the message with details of the case. */
  readonly messageExpression?: string
}

/** An expression with a name: a variable or a match condition. */
export interface NamedExpression {
  readonly name: string
  readonly expression: string
}

/** Objects and expressions of a policy. */
export interface PolicyScope {
  /** Name without the prefix of the installation. */
  readonly name: string
  readonly operations: readonly ('CREATE' | 'UPDATE')[]
  readonly group: string
  readonly version: string
  readonly resource: string
  /** Labels that the old or new object must have. @default every object */
  readonly labels?: Readonly<Record<string, string>>
  readonly conditions: readonly NamedExpression[]
  /** Parameter objects in the namespace: the policy is evaluated once for each, and not at all without one. */
  readonly params?: { readonly apiVersion: string; readonly kind: string; readonly labels: Readonly<Record<string, string>> }
  /** Variables in order: each may use those before it. */
  readonly variables: readonly NamedExpression[]
}

/** An object of `admissionregistration.k8s.io/v1`, or several of them. */
export interface PolicyObject {
  readonly apiVersion: 'admissionregistration.k8s.io/v1'
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Readonly<Record<string, unknown>>
}

/**
 * A mutating policy and its binding. An error in it rejects the write; it matches only DaemonSets bound to a Rollout.
 *
 * @param patch CEL expression of type list of JSONPatch
 */
export function mutatingPolicy(scope: PolicyScope, patch: string): readonly PolicyObject[] {
  return [
    object('MutatingAdmissionPolicy', scope.name, {
      ...matching(scope),
      reinvocationPolicy: 'IfNeeded',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patch } }],
    }),
    object('MutatingAdmissionPolicyBinding', scope.name, { policyName: scope.name }),
  ]
}

/** A validating policy that rejects objects or only warns, and its binding. */
export function validatingPolicy(scope: PolicyScope, action: 'Deny' | 'Warn', validations: readonly Validation[]): readonly PolicyObject[] {
  return [
    object('ValidatingAdmissionPolicy', scope.name, {
      ...matching(scope),
      // An error while evaluating a warning must not reject the write.
      ...(action === 'Warn' && { failurePolicy: 'Ignore' }),
      validations: validations.map((validation) => ({ ...validation, reason: 'Invalid' })),
    }),
    object('ValidatingAdmissionPolicyBinding', scope.name, {
      policyName: scope.name,
      validationActions: [action],
      ...(scope.params && { paramRef: { selector: { matchLabels: scope.params.labels }, parameterNotFoundAction: 'Allow' } }),
    }),
  ]
}

function matching({ operations, group, version, resource, labels, params, conditions, variables }: PolicyScope) {
  return {
    ...(params && { paramKind: { apiVersion: params.apiVersion, kind: params.kind } }),
    failurePolicy: 'Fail',
    matchConstraints: {
      ...(labels && { objectSelector: { matchLabels: labels } }),
      resourceRules: [{ apiGroups: [group], apiVersions: [version], operations, resources: [resource] }],
    },
    matchConditions: conditions,
    variables,
  }
}

function object(kind: string, name: string, spec: PolicyObject['spec']): PolicyObject {
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, spec }
}

/** Match condition: the request does not come from Tranche itself. @see isOurWrite */
export function notOurs(managers: readonly string[]): NamedExpression {
  return { name: 'not-our-own', expression: `!(request.options.?fieldManager.orValue('') in ${celList(managers)})` }
}

/** @returns a list of texts as CEL; none of them holds a quote or a backslash */
export function celList(texts: readonly string[]): string {
  return `[${texts.map((text) => `'${text}'`).join(', ')}]`
}

/** @returns a text as CEL */
export function celText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

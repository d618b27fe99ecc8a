/** Environment variables that a release reads, and what for. A dry run reads none of them. */
export const releaseVariables: Readonly<Record<string, string>> = {
  REGISTRY_USER: 'account that pushes image and chart',
  REGISTRY_TOKEN: 'token of that account',
  GH_TOKEN: 'token with which gh writes the release: contents: write',
  ACTIONS_ID_TOKEN_REQUEST_URL: 'identity of the workflow, for signatures and npm; GitHub sets it with id-token: write',
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'as above',
  GITHUB_WORKFLOW_REF: 'workflow that the provenance names; GitHub sets it',
  GITHUB_RUN_ID: 'run that the provenance names; GitHub sets it',
  GITHUB_RUN_ATTEMPT: 'as above',
  BUILD_IMAGE: 'image in which the workflow builds, by digest',
}

/** Variables that are secret: a program gets only those that it needs. */
export const secretVariables = ['REGISTRY_TOKEN', 'GH_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'] as const
/** @see secretVariables */
export type SecretVariable = (typeof secretVariables)[number]

/** @returns the environment without the secret variables that are not among `needed` */
export function withoutSecrets(
  environment: Readonly<Record<string, string | undefined>>,
  needed: readonly SecretVariable[] = [],
): Record<string, string | undefined> {
  const hidden = secretVariables.filter((name) => !needed.includes(name))
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !hidden.some((one) => one === name)))
}

/** @returns the missing variables, each with what it is for, and the one that has an unusable value */
export function faultsOfVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const missing = Object.entries(releaseVariables).filter(([name]) => (environment[name] ?? '') === '')
  const { BUILD_IMAGE: image = '' } = environment
  return [
    ...missing.map(([name, purpose]) => `${name} is not set: ${purpose}`),
    ...(image === '' || /@sha256:[0-9a-f]{64}$/.test(image) ? [] : [`BUILD_IMAGE is "${image}"; give its digest: NAME@sha256:…`]),
  ]
}

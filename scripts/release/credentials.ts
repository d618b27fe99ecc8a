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
}

/** @returns the missing variables, each with what it is for */
export function missingVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(releaseVariables).flatMap(([name, purpose]) =>
    (environment[name] ?? '') === '' ? [`${name} is not set: ${purpose}`] : [],
  )
}

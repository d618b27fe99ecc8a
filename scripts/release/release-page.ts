import { type Addresses, chartFolderOf, imageOf, npmNameOf, pageOf } from './addresses.ts'

/** What the page of a version names besides its changes. */
export interface PublishedDigests {
  readonly version: string
  readonly addresses: Addresses
  /** Digest of the image's index. */
  readonly image: string
  readonly chart: string
}

/** @returns text of the version's page: its section of the changelog, with links into the repository, and how to get, install and verify each part */
export function releasePage(notes: string, { version, addresses, image, chart }: PublishedDigests): string {
  const sources = `${pageOf(addresses)}/blob/v${version}/`
  const operations = `${sources}docs/operations`
  const chartAddress = `oci://${chartFolderOf(addresses)}/tranche`
  return `${notes.replaceAll(/\]\((?!https?:|#)/g, `](${sources}`)}

### Get it

| part | address |
|---|---|
| image, amd64 and arm64 | \`${imageOf(addresses)}:${version}@${image}\` |
| chart | \`${chartAddress}\`, version ${version}, \`${chart}\` |
| npm package | \`${npmNameOf(addresses)}@${version}\` |
| command line | the archives below |

\`\`\`sh
helm install tranche ${chartAddress} --version ${version} --namespace tranche-system --create-namespace
\`\`\`

Before an upgrade, read [upgrade](${operations}/upgrade.md). The [support matrix](${operations}/support.md) lists the versions of Kubernetes and
Helm.

\`SHA256SUMS\` lists the files, and \`SHA256SUMS.sigstore.json\` is its signature:
[verify a download](${operations}/install.md#verify-a-download).
`
}

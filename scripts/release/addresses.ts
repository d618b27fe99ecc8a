/** Where a version is published. The repository has no public address yet, so the caller gives both parts. */
export interface Addresses {
  /** Registry of images and charts with a path, such as `registry.example/team`. */
  readonly registry: string
  /** Repository on GitHub as `OWNER/NAME`. */
  readonly repository: string
}

/** Addresses of a dry run, which nothing is sent to. */
export const exampleAddresses: Addresses = { registry: 'registry.example/team', repository: 'example/tranche' }

/** @returns what is wrong with the addresses of a release, each with its fix; none if both are usable */
export function faultsOfAddresses({ registry, repository }: Partial<Addresses>): readonly string[] {
  return [
    ...(registry === undefined ? ['--registry is missing; give the registry of image and chart: --registry HOST/PATH'] : []),
    ...(registry === undefined || /^[a-z\d.-]+(:\d+)?(\/[a-z\d._-]+)+$/.test(registry)
      ? []
      : [`--registry is "${registry}"; give a host and a path in lower case, without a scheme: registry.example/team`]),
    ...(repository === undefined ? ['--repository is missing; give the repository on GitHub: --repository OWNER/NAME'] : []),
    ...(repository === undefined || /^[A-Za-z\d-]+\/[\w.-]+$/.test(repository)
      ? []
      : [`--repository is "${repository}"; give an owner and a name: --repository OWNER/NAME`]),
  ]
}

/** @returns name of the image without a tag */
export function imageOf({ registry }: Addresses): string {
  return `${registry}/tranche`
}

/** @returns folder of the chart, to which helm adds the chart's name */
export function chartFolderOf({ registry }: Addresses): string {
  return `${registry}/charts`
}

/** @returns name of the npm package: under the scope of the owner, because the name without a scope is another project's package */
export function npmNameOf({ repository }: Addresses): string {
  return `@${repository.split('/')[0]!.toLowerCase()}/tranche`
}

/** @returns page of the repository */
export function pageOf({ repository }: Addresses): string {
  return `https://github.com/${repository}`
}

/** @returns address of the files of a version, without a slash at the end */
export function downloadsOf(addresses: Addresses, version: string): string {
  return `${pageOf(addresses)}/releases/download/v${version}`
}

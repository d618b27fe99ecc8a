import { type DashboardPorts, type MissingParts, pathOfPlace, type Place, placeOf } from '@tranche/dashboard'
import { readOwnUsername } from '@tranche/release-client'
import { type ReactNode, useMemo, useSyncExternalStore } from 'react'
import { createHostServices, type HostServices } from '../frame/host-services.ts'
import { HostFrame, HostView } from '../frame/host-frame.tsx'
import { headlampExchange } from './headlamp-exchange.ts'
import { headlampLib } from './headlamp-lib.ts'
import { NamespaceChoice } from './namespace-choice.tsx'
import { baseOf, urlBelow } from './plugin-path.ts'
import { createNamespaceStore, type NamespaceStore } from './namespace-store.ts'

const missing: MissingParts = {
  plan: 'A forecast runs the whole system on a copy of the cluster, which a page cannot: use tranche plan or the dashboard.',
  print: 'The printed report of a release is a page of its own: print it from the dashboard.',
}

/** All pages of the plugin: the URL says which. */
export function HeadlampPage(): ReactNode {
  const cluster = headlampLib().K8s.useCluster()
  return cluster === null ? <p>Choose a cluster.</p> : <ClusterPage key={cluster} cluster={cluster} />
}

function ClusterPage({ cluster }: { readonly cluster: string }): ReactNode {
  const { services, namespaces } = useClusterServices(cluster)
  const chosen = useSyncExternalStore(namespaces.subscribe, namespaces.snapshot)
  const { pathname, search } = headlampLib().ReactRouter.useLocation()
  const base = baseOf(pathname)
  const { scheme, urlOf, go } = useHeadlamp(base)
  const place = placeOf(pathname.slice(base.length + 1), search)
  const choose = (names: readonly string[] | null): void => {
    namespaces.choose(names)
    services.poll.now()
  }
  return (
    <HostFrame services={services} host="Headlamp" scheme={scheme} missing={missing} urlOf={urlOf} go={go}>
      {place.view === 'fleet' ? <NamespaceChoice chosen={chosen} onChoose={choose} /> : null}
      <HostView place={place} />
    </HostFrame>
  )
}

interface ClusterState {
  readonly services: HostServices
  readonly namespaces: NamespaceStore
}

/** Services for one cluster, and the namespaces that its user chose. */
export function useClusterServices(cluster: string): ClusterState {
  return useMemo(() => {
    const namespaces = createNamespaceStore(cluster, localStorage)
    const services = createHostServices({
      exchange: headlampExchange(headlampLib().ApiProxy, cluster),
      component: 'tranche-headlamp',
      username: (client) => readOwnUsername(client),
      fleet: namespaces.snapshot,
    })
    return { services, namespaces }
  }, [cluster])
}

interface HeadlampState extends Pick<DashboardPorts, 'urlOf' | 'go'> {
  readonly scheme: 'light' | 'dark'
}

/** Theme of Headlamp, and links to pages of the plugin. @param base path of the plugin in a cluster */
export function useHeadlamp(base: string): HeadlampState {
  const { ReactRouter, MuiMaterial } = headlampLib()
  const { mode } = MuiMaterial.styles.useTheme().palette
  const history = ReactRouter.useHistory()
  const links = useMemo(() => {
    const pathTo = (place: Place): string => urlBelow(base, pathOfPlace(place))
    return {
      urlOf: (place: Place): string => {
        const [path = '', query] = pathTo(place).split('?', 2)
        return history.createHref({ pathname: path, search: query === undefined ? '' : `?${query}` })
      },
      go: (place: Place, how: 'push' | 'replace' = 'push'): void => history[how](pathTo(place)),
    }
  }, [base, history])
  return { ...links, scheme: mode }
}

/** Most transitions that a Lease can count (int32). The API server rejects more, also where another program wrote that many. */
export const MOST_LEASE_TRANSITIONS = 2_147_483_647

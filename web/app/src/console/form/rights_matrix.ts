/** A row of the matrix: what rights are of, and which there are by list. */
export interface Row { of: string; rights: Record<string, string[]> }

/** The rows for the rights of some lists: requisition_file_download and requisition_file_upload are of requisition_file. */
export function rowsOf(lists: { name: string; rights: string[] }[]): Row[] {
  const rows = new Map<string, Row>();
  for (const { name, rights } of lists) {
    for (const right of rights) {
      const of = right.slice(0, right.lastIndexOf('_')) || right;
      const row = rows.get(of) ?? { of, rights: {} };
      row.rights[name] = [...(row.rights[name] ?? []), right];
      rows.set(of, row);
    }
  }
  return [...rows.values()].sort((a, b) => a.of.localeCompare(b.of));
}

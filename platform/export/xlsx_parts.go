package export

// The parts of a workbook besides its rows (ECMA-376 part 1, 18.2, 18.3 and 18.8; part 2, 8 to 11).

const (
	declaration   = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	main          = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	relationships = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	ofDocuments   = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	ofPackages    = "http://schemas.openxmlformats.org/package/2006"
	spreadsheetML = "application/vnd.openxmlformats-officedocument.spreadsheetml"

	// With whether it is the sheet that is shown first. The heading stays in sight.
	sheetHead = declaration + `<worksheet ` + main + `><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>` +
		`<sheetViews><sheetView%s workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>` +
		`</sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/><cols>`

	// With the orientation: A4, all columns on one page's width.
	sheetTail = `</sheetData><pageSetup paperSize="9" fitToWidth="1" fitToHeight="0" orientation="%s"/></worksheet>`

	// With the sheets, and the row of each that is printed on every page.
	workbookPart = declaration + `<workbook ` + main + ` xmlns:r="` + ofDocuments + `">` +
		`<bookViews><workbookView xWindow="0" yWindow="0" windowWidth="14805" windowHeight="8010"/></bookViews>` +
		`<sheets>%s</sheets><definedNames>%s</definedNames></workbook>`

	relationsPart = declaration + relationships +
		`%s<Relationship Id="styles" Type="` + ofDocuments + `/styles" Target="styles.xml"/></Relationships>`
	sheetRelation = `<Relationship Id="rId%d" Type="` + ofDocuments + `/worksheet" Target="%s"/>`

	rootPart = declaration + relationships +
		`<Relationship Id="rId1" Type="` + ofDocuments + `/officeDocument" Target="xl/workbook.xml"/>` +
		`<Relationship Id="rId2" Type="` + ofPackages + `/relationships/metadata/core-properties" Target="docProps/core.xml"/>` +
		`</Relationships>`

	typesPart = declaration + `<Types xmlns="` + ofPackages + `/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + spreadsheetML + `.sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="` + spreadsheetML + `.styles+xml"/>` +
		`<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>` +
		`%s</Types>`
	sheetType = `<Override PartName="/xl/%s" ContentType="` + spreadsheetML + `.worksheet+xml"/>`

	propertiesPart = declaration + `<cp:coreProperties xmlns:cp="` + ofPackages + `/metadata/core-properties" ` +
		`xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>Marquee</dc:creator></cp:coreProperties>`
)

// The styles of cells, as the cellXfs of stylesPart are counted: by kind, and of the heading over texts and over
// numbers.
var (
	styles = [Bool + 1]int{
		Text: 1, Integer: 2, Money: 3, Decimal: 4, Percent: 5, Date: 6, Timestamp: 7,
	}
	headerStyles = [2]int{8, 9}
)

// stylesPart has the formats of numbers: 49 is "@", text, so that a cell stays text when it is edited; it stands a
// little off the number at its left.
const stylesPart = declaration + `<styleSheet ` + main + `>` +
	`<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/>` +
	`<numFmt numFmtId="165" formatCode="yyyy-mm-dd hh:mm:ss"/></numFmts>` +
	`<fonts count="2"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font>` +
	`<font><b/><sz val="11"/><color rgb="FFFFFFFF"/><name val="Calibri"/><family val="2"/></font></fonts>` +
	`<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>` +
	`<fill><patternFill patternType="solid"><fgColor rgb="FF1F3A5F"/></patternFill></fill></fills>` +
	`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
	`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
	`<cellXfs count="10"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
	`<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyAlignment="1">` +
	`<alignment horizontal="left" indent="1"/></xf>` +
	`<xf numFmtId="1" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="4" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="2" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="10" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="49" fontId="1" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1" ` +
	`applyAlignment="1"><alignment horizontal="left" indent="1"/></xf>` +
	`<xf numFmtId="49" fontId="1" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1" ` +
	`applyAlignment="1"><alignment horizontal="right"/></xf></cellXfs>` +
	`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`

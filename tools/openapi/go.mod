module marquee/tools/openapi

go 1.26.0
